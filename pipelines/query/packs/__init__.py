"""An answer kept with all that it takes to check it, and asked again."""

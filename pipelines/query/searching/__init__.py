"""Both legs, their fusion, how strong the evidence is, and second tries."""

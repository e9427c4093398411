"""Words with markers: a model's prompt and reply, quotations, computed sentences, abstentions."""

"""Other methods: the paper's variants, and those of others."""

"""The index: passages, their terms and vectors, kept up to date behind everybody's back."""

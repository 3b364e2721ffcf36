"""Topics and pairs as text: both sides, aligned, with what is proven about them."""

"""Topics and pairs as text: both sides, aligned, and what is proven of them."""

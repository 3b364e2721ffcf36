"""Sentiment of reviews: trained on labelled books, for unlabelled films."""

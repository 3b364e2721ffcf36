"""Sentiment of reviews, learned from books, for films."""

"""What a fitted tree consists of: plain values that need NumPy alone."""

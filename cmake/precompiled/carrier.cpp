// Carries a precompiled header that targets share.

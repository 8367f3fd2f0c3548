// Carries the precompiled header that every torch-using target shares.

// placeholder, replaced within the hour

extension Migration {
    /// An expiration that never comes is refused as that, and not as past.
    static let version16 = Migration(version: 16, readableFrom: 7) { schema in
        checkingSubmissions(
            schema, replacing: true,
            badExpiration: "format('the expiration %s is ' || CASE WHEN isfinite(s.expiration) THEN 'past' "
                + "ELSE 'no time' END, s.expiration)")
    }
}

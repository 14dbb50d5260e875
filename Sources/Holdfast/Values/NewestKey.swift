/// The digest of recipient, topic and collapse id, among the notifications of which the newest wins.
///
/// As ``Identity`` it is computed under the journal's own key: nobody can build two notifications with one digest, of which
/// one would supersede the other.
package struct NewestKey: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Returns: nil for a notification that goes whatever comes after it.
    package init?(_ fields: PackedNotification.Fields, in bytes: Span<UInt8>, key: IdentityKey) {
        guard fields.newestWins, !fields.collapseID.isEmpty else { return nil }
        var hash = SipHash128(key: key)
        // Lengths first, so that no two different lists of fields are one run of bytes; apart from those of identities.
        hash.append(
            UInt64(fields.service?.rawValue ?? (fields.isBroadcast ? 255 : 0)) << 48 | UInt64(fields.topic.count) << 32
                | UInt64(fields.collapseID.count) << 16 | UInt64(fields.address.count))
        hash.append(0x6E65_7765_7374)
        for range in [fields.address, fields.topic, fields.collapseID] {
            for index in range { hash.append(CollectionOfOne(bytes[index])) }
        }
        (high, low) = hash.finalize()
    }

    /// The digest of a packed notification in `range`; nil for one that goes whatever comes after it, and for damage. Most have
    /// none, which two bytes say.
    package init?(packed bytes: Span<UInt8>, in range: Range<Int>, key: IdentityKey) {
        guard range.count > PackedNotification.headerByteCount, range.upperBound <= bytes.count,
            bytes[range.lowerBound] >= PackedNotification.newestVersion,
            bytes[range.lowerBound + 15] & PackedNotification.Flags.newestWins != 0,
            let fields = try? PackedNotification.Fields(bytes, in: range)
        else { return nil }
        self.init(fields, in: bytes, key: key)
    }
}

/// The notifications with one ``NewestKey`` that have not ended.
package struct NewestEntries: Hashable, Sendable {
    /// The one that was accepted last; `.none` once it has ended.
    package var newest: UID
    /// How many of them have not ended.
    package var open: UInt32
    /// Unix seconds from which ``newest`` is expired; 0 for never.
    package var expiration: UInt32
    /// The last accepted of those that the service took, or may have taken, while others had not ended; `.none` for none.
    /// What comes of a newer one changes nothing for those before it.
    package var taken: UID

    package init(newest: UID, open: UInt32, expiration: UInt32 = 0, taken: UID = .none) {
        self.newest = newest
        self.open = open
        self.expiration = expiration
        self.taken = taken
    }

    /// One more was accepted.
    ///
    /// - Parameter expiration: its own, as in its packed form.
    package static func accepting(
        _ uid: UID, expiration: Int64, after known: NewestEntries?
    ) -> NewestEntries {
        var entries = known ?? NewestEntries(newest: .none, open: 0)
        entries.open += 1
        if uid > entries.newest {
            (entries.newest, entries.expiration) = (uid, UInt32(clamping: expiration))
        }
        return entries
    }

    /// The one that takes the place of an entry; nil for none. One that is expired itself takes nobody's, although it may not
    /// have ended yet.
    package func successor(of uid: UID, at now: WallTime) -> UID? {
        if newest > uid, expiration == 0 || Int64(expiration) > now.seconds { return newest }
        return taken > uid ? taken : nil
    }

    /// One of them has ended.
    ///
    /// - Returns: nil when it was the last one.
    package func ending(_ uid: UID, as outcome: TerminalOutcome) -> NewestEntries? {
        guard open > 1 else { return nil }
        var rest = self
        rest.open -= 1
        switch outcome {
        case .confirmed, .unknown: rest.taken = max(taken, uid)
        // What was never taken stands for nothing: an older one that still waits goes.
        case .rejected, .expired, .withdrawn, .superseded: break
        }
        if uid == newest { (rest.newest, rest.expiration) = (.none, 0) }
        return rest
    }
}

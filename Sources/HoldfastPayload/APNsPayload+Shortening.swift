extension APNsPayload {
    /// The same payload with so much of its alert's body that it fits, cut between two characters.
    ///
    /// Bytes are counted as they are encoded: a quote takes two, an emoji four or many more. Nothing but the body is
    /// shortened: an alert that has only a localisation key stays whole.
    ///
    /// - Parameters:
    ///   - limit: bytes of the whole payload.
    ///   - ending: stands where something was cut off.
    /// - Throws: ``APNsPayloadError`` of kind `tooLarge` when it would not fit with no body either, or has none.
    public func shortened(to limit: Int = Self.limit, ending: String = "…") throws(APNsPayloadError) -> APNsPayload {
        let count = try byteCount()
        guard count > limit else { return self }
        guard let body = alert?.body, !body.isEmpty else {
            throw .tooLarge(count, limit: limit, ", and it has no body to shorten")
        }
        // With nothing left of the body but its ending.
        let least = count - JSONText.byteCount(body) + JSONText.byteCount(ending)
        guard least <= limit else {
            throw .tooLarge(count, limit: limit, ", and it is more than its alert's body that is too much")
        }
        let room = limit - least
        var kept = body.startIndex
        var used = 0
        while kept < body.endIndex {
            let next = body.index(after: kept)
            used += JSONText.byteCount(body[kept..<next])
            guard used <= room else { break }
            kept = next
        }
        var shortened = self
        shortened.alert?.body = body[..<kept] + ending
        return shortened
    }
}

extension APNsPayload {
    /// Shortens the body of the alert, at a character boundary, until the payload fits.
    ///
    /// Bytes are counted as they are encoded: a quote takes two, an emoji four or many more. Only the body is
    /// shortened: an alert with only a localisation key stays whole.
    ///
    /// - Parameters:
    ///   - limit: bytes of the whole payload.
    /// - ending: replaces the text that was cut off. Default: `…`.
    /// - Throws: ``APNsPayloadError`` of kind `tooLarge` when the payload does not fit even without a body, or has no
    ///   body.
    public func shortened(to limit: Int = Self.limit, ending: String = "…") throws(APNsPayloadError) -> APNsPayload {
        let count = try byteCount()
        guard count > limit else { return self }
        guard let body = alert?.body, !body.isEmpty else {
            throw .tooLarge(count, limit: limit, ", and it has no body to shorten")
        }
        // The size with nothing left of the body but its ending.
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

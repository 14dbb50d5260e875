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
        guard let short = JSONText.shortened(body, ending: ending, of: count, to: limit) else {
            throw .tooLarge(count, limit: limit, ", and it is more than its alert's body that is too much")
        }
        var shortened = self
        shortened.alert?.body = short
        return shortened
    }
}

extension JSONText {
    /// The longest beginning of a text, at a character boundary, with which the whole that it stands in fits.
    ///
    /// - Parameters:
    ///   - ending: stands behind the beginning.
    ///   - count: bytes of the whole with the whole text.
    ///   - limit: the most bytes of the whole.
    /// - Returns: nil where the whole does not even fit with the ending alone.
    static func shortened(_ text: String, ending: String, of count: Int, to limit: Int) -> String? {
        let least = count - byteCount(text) + byteCount(ending)
        guard least <= limit else { return nil }
        let room = limit - least
        var kept = text.startIndex
        var used = 0
        while kept < text.endIndex {
            let next = text.index(after: kept)
            used += byteCount(text[kept..<next])
            guard used <= room else { break }
            kept = next
        }
        return text[..<kept] + ending
    }
}

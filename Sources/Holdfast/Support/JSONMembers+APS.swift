/// Look-ups in a payload, which is passed on unchanged.
extension JSONMembers {
    /// The members of a payload's `aps`; nil where there is no such object. Reads no further than to its beginning.
    ///
    /// - Throws: ``JSONFault`` where the payload is no JSON object, up to there.
    package static func aps(of payload: Span<UInt8>, in range: Range<Int>) throws(JSONFault) -> JSONMembers? {
        var members = try JSONMembers(payload, in: range)
        while let name = try members.nextName(payload) {
            guard JSONScanner.isString(payload, in: name, equalTo: "aps") else { continue }
            if let aps = members.members(payload) { return aps }
        }
        return nil
    }
}

extension JSONScanner {
    /// Whether the name of a member of `aps`, written in `range`, is that of something the user notices: it shows, sounds or
    /// counts.
    package static func isNoticed(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        isString(bytes, in: range, equalTo: "alert") || isString(bytes, in: range, equalTo: "sound")
            || isString(bytes, in: range, equalTo: "badge")
    }
}

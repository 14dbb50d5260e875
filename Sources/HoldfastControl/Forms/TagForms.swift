package import Holdfast

/// A paused tag.
package struct PausedTagForm: Codable, Hashable, Sendable {
    package var tag: BytesForm
    package var since: ExactTime
    /// Absent where nobody gave one.
    package var reason: String?
    /// Entries with the tag that wait for it, without those that are not read yet.
    package var held: Int

    private enum CodingKeys: String, CodingKey { case since, reason, held }

    package init(_ tag: DeskStatus.PausedTag) {
        self.tag = BytesForm(whole: tag.tag)
        since = ExactTime(tag.since)
        reason = tag.reason.isEmpty ? nil : tag.reason
        held = tag.held
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        tag = try BytesForm(from: decoder, TagKeys.self) ?? BytesForm(whole: [])
        since = try values.decode(ExactTime.self, forKey: .since)
        reason = try values.decodeIfPresent(String.self, forKey: .reason)
        held = try values.decode(Int.self, forKey: .held)
    }

    package func encode(to encoder: any Encoder) throws {
        try tag.encode(to: encoder, TagKeys.self)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(since, forKey: .since)
        try values.encodeIfPresent(reason, forKey: .reason)
        try values.encode(held, forKey: .held)
    }

    func value() -> DeskStatus.PausedTag {
        DeskStatus.PausedTag(tag: tag.bytes, since: since.value, reason: reason ?? "", held: held)
    }
}

/// A tag to be paused or resumed.
struct TagOrderForm: Codable {
    /// `nil` for all that are paused.
    var tag: BytesForm?
    /// For a pause.
    var reason: String?

    private enum CodingKeys: String, CodingKey { case reason, all }

    init(tag: [UInt8]?, reason: String? = nil) {
        self.tag = tag.map { BytesForm(whole: $0) }
        self.reason = reason
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        tag = try BytesForm(from: decoder, TagKeys.self)
        reason = try values.decodeIfPresent(String.self, forKey: .reason)
        let isForAll = try values.decodeIfPresent(Bool.self, forKey: .all) ?? false
        guard isForAll != (tag != nil) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "an order about tags has \"tag\", \"tag-base64\" or \"all\": true, one of them"))
        }
    }

    func encode(to encoder: any Encoder) throws {
        try tag?.encode(to: encoder, TagKeys.self)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(reason, forKey: .reason)
        if tag == nil { try values.encode(true, forKey: .all) }
    }
}

/// A tag that was paused or resumed.
package struct TagChangeForm: Codable, Hashable, Sendable {
    /// `nil` for all.
    package var tag: BytesForm?
    /// `paused` or `running`.
    package var state: String
    package var reason: String?

    private enum CodingKeys: String, CodingKey { case state, reason }

    package init(_ tag: [UInt8]?, _ state: String, reason: String = "") {
        self.tag = tag.map { BytesForm(whole: $0) }
        self.state = state
        self.reason = reason.isEmpty ? nil : reason
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        tag = try BytesForm(from: decoder, TagKeys.self)
        state = try values.decode(String.self, forKey: .state)
        reason = try values.decodeIfPresent(String.self, forKey: .reason)
    }

    package func encode(to encoder: any Encoder) throws {
        try tag?.encode(to: encoder, TagKeys.self)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(state, forKey: .state)
        try values.encodeIfPresent(reason, forKey: .reason)
    }
}

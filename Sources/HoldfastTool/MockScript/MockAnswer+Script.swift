internal import HoldfastMockAPNs
internal import HoldfastMocking
internal import HoldfastService

extension MockAnswer {
    /// - Parameter map: a step's keys.
    init(script map: ScriptMap) throws(YAMLFault) {
        self.init()
        if let answer = map["answer"] { content = try Content(script: answer) }
        delay = try map.duration("delay") ?? .zero
        if case .mapping? = map["pieces"]?.content, let pieces = map["pieces"] {
            let map = try ScriptMap(pieces, "pieces", keys: ["bytes", "pause"])
            bodyFrameByteCount = try map.count("bytes", 1...16384)
            bodyPause = try map.duration("pause") ?? .zero
        } else {
            bodyFrameByteCount = try map.count("pieces", 1...16384)
        }
        if let effects = map["then"] { then = try MockEffect.list(script: effects) }
    }
}

extension MockAnswer.Content {
    private static let words: [(String, MockAnswer.Content)] = [
        ("normal", .validated), ("accepted", .accepted), ("silence", .silence),
        ("accepted-in-silence", .acceptedInSilence),
    ]

    fileprivate init(script tree: YAMLTree) throws(YAMLFault) {
        guard case .scalar(let word) = tree.content else {
            self = try Self.long(tree)
            return
        }
        if let known = Self.words.first(where: { $0.0 == word }) {
            self = known.1
        } else if MockRejection.statuses[word] != nil || MockRejection.googleStatuses[word] != nil {
            self = .rejected(MockRejection(word))
        } else {
            let reasons = MockRejection.statuses.keys.sorted() + MockRejection.googleStatuses.keys.sorted()
            throw ScriptMap.notAmong(Self.words.map(\.0) + reasons, "answer", word, tree.place)
        }
    }

    private static func long(_ tree: YAMLTree) throws(YAMLFault) -> MockAnswer.Content {
        let map = try ScriptMap(
            tree, "answer",
            keys: ["reason", "status", "timestamp", "retry-after", "headers", "body", "reset", "taken", "subject"])
        if map.has("reset") {
            let code = try map.text("reset").map { text throws(YAMLFault) in
                try ErrorCodeName.value(text, "reset", map["reset"]?.place ?? map.place)
            }
            return try map.flag("taken") == true ? .acceptedAndReset(code: code ?? 0) : .reset(code: code ?? 0)
        }
        let status = try map.count("status", 200...599)
        if let reason = try map.text("reason") {
            let rejection = MockRejection(
                reason, status: status, timestamp: try map.count("timestamp", 0...Int.max).map(Int64.init),
                retryAfter: try map.text("retry-after"), subject: try map.text("subject"))
            return try map.flag("taken") == true ? .acceptedAndRejected(rejection) : .rejected(rejection)
        }
        guard let status else { throw YAMLFault("an answer has a reason, a status or a reset", at: tree.place) }
        var headers = try map.text("retry-after").map { [(name: "retry-after", value: $0)] } ?? []
        if case .mapping(let pairs)? = map["headers"]?.content {
            for pair in pairs { headers.append((pair.key.lowercased(), try ScriptMap.text(pair.value, pair.key))) }
        }
        return .response(status: status, headers: headers, body: Array((try map.text("body") ?? "").utf8))
    }
}

/// The codes of RFC 9113 section 7, by name or number.
enum ErrorCodeName {
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    static func value(_ text: String, _ key: String, _ place: TextPlace) throws(YAMLFault) -> UInt32 {
        if let code = UInt32(text) { return code }
        guard let index = names.firstIndex(of: text) else { throw ScriptMap.notAmong(names, key, text, place) }
        return UInt32(index)
    }
}

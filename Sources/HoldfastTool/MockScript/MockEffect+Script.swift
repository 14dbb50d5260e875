internal import HoldfastMockAPNs
internal import HoldfastMocking
internal import HoldfastService

extension MockEffect {
    private static let words: [(String, Kind)] = [
        ("close", .close), ("reset", .reset), ("stall", .stall), ("stop-reading", .stopReading),
        ("ignore-pings", .ignorePings), ("goaway", .goAway(MockGoAway())),
    ]

    static func list(script tree: YAMLTree) throws(YAMLFault) -> [MockEffect] {
        guard case .sequence(let items) = tree.content else { return [try MockEffect(script: tree)] }
        var effects: [MockEffect] = []
        for item in items { effects.append(try MockEffect(script: item)) }
        return effects
    }

    /// `close`, `{close: , after: 2s}`, `{streams: 1}`, `{goaway: {reason: Shutdown}}`
    private init(script tree: YAMLTree) throws(YAMLFault) {
        let names = Self.words.map(\.0) + ["streams"]
        if case .scalar(let word) = tree.content {
            guard let kind = Self.words.first(where: { $0.0 == word })?.1 else {
                throw ScriptMap.notAmong(names, "then", word, tree.place)
            }
            self.init(kind)
            return
        }
        let map = try ScriptMap(tree, "an item of then", keys: names + ["after"])
        let given = names.filter(map.has)
        guard given.count == 1, let name = given.first else {
            throw YAMLFault("an item of then has one of \(names.joined(separator: ", "))", at: tree.place)
        }
        let after = try map.duration("after") ?? .zero
        switch name {
        case "streams": self.init(.streams(try map.count("streams", 0...100_000) ?? 0), after: after)
        case "goaway":
            let goAway = try map["goaway"].map { tree throws(YAMLFault) in try MockGoAway(script: tree) }
            self.init(.goAway(goAway ?? MockGoAway()), after: after)
        default:
            self.init(Self.words.first { $0.0 == name }?.1 ?? .close, after: after)
        }
    }
}

extension MockGoAway {
    /// `warning`, or keys.
    fileprivate init(script tree: YAMLTree) throws(YAMLFault) {
        if case .scalar(let word) = tree.content {
            guard word == "warning" else { throw ScriptMap.notAmong(["warning"], "goaway", word, tree.place) }
            self = .warning
            return
        }
        let map = try ScriptMap(tree, "goaway", keys: ["code", "last-stream", "offset", "reason", "debug"])
        self.init()
        if let reason = try map.text("reason") { self.init(reason: reason) }
        if let debug = try map.text("debug") { debugData = debug }
        if let code = try map.text("code") {
            self.code = try ErrorCodeName.value(code, "code", map["code"]?.place ?? map.place)
        }
        lastStreamID = try map.count("last-stream", 0...0x7FFF_FFFF).map(UInt32.init)
        offset = try map.count("offset", -100_000...100_000) ?? 0
    }
}

extension MockConnectionPlan {
    init(script tree: YAMLTree) throws(YAMLFault) {
        let map = try ScriptMap(
            tree, "connection", keys: ["welcome", "tls", "settings", "streams", "pings", "read", "segments", "then"])
        self.init()
        switch try map.text("welcome") {
        case nil, "normal"?: break
        case "close"?: welcome = .closed
        case "reset"?: welcome = .reset
        case let word?:
            throw ScriptMap.notAmong(["normal", "close", "reset"], "welcome", word, map["welcome"]?.place ?? map.place)
        }
        tls = try map.choice("tls", TLS.Way.self).map(TLS.init) ?? .normal
        if try map.text("settings") == "never" {
            settings = .never
        } else if let delay = try map.duration("settings") {
            settings = .delayed(delay)
        }
        maxConcurrentStreams = try map.count("streams", 0...100_000)
        answersPings = try map.flag("pings") ?? true
        segmentByteCount = try map.count("segments", 1...65536)
        if let read = map["read"] {
            let map = try ScriptMap(read, "read", keys: ["bytes", "every"])
            reading = Reading(
                byteCount: try map.count("bytes", 1...1 << 20) ?? 4096, every: try map.duration("every") ?? .zero)
        }
        if let effects = map["then"] { then = try MockEffect.list(script: effects) }
    }
}

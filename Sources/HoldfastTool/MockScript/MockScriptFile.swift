internal import HoldfastMockAPNs
internal import HoldfastMockFCM
internal import HoldfastMocking
internal import HoldfastService

/// The file of `holdfast mock http2 --script` and of `holdfast mock fcm --script`, as Docs/Guide/MockService.md describes it.
struct MockScriptFile {
    private(set) var script = MockScript([])
    private(set) var addresses: [String] = []
    private(set) var isSandbox = false
    private(set) var firstStreamRule = MockAPNsConfiguration.FirstStreamRule.unchecked

    /// - Throws: a ``ToolError`` that names the file, the line and the column.
    init(path: String) throws {
        do throws(ConfigError) {
            let file = try ConfigFile(path)
            do throws(YAMLFault) {
                self = try MockScriptFile(file.tree)
            } catch {
                throw ConfigError([ConfigProblem(source: .file(path, error.place), path: "", message: error.message)])
            }
        } catch {
            throw ToolError(.configuration, "the script has a mistake:\n" + error.lines.joined(separator: "\n"))
        }
    }

    /// - Parameter tree: nil for a text with nothing but comments.
    init(_ tree: YAMLTree?) throws(YAMLFault) {
        guard let tree else { return }
        let top = try ScriptMap(tree, "a script", keys: ["listen", "sandbox", "first-stream", "steps"])
        addresses = try top.texts("listen")
        isSandbox = try top.flag("sandbox") ?? false
        firstStreamRule = try top.choice("first-stream", MockAPNsConfiguration.FirstStreamRule.self) ?? .unchecked
        guard let steps = top["steps"] else { return }
        guard case .sequence(let items) = steps.content else {
            throw YAMLFault("steps takes a list, and this is \(steps.kind)", at: steps.place)
        }
        for item in items { script.steps.append(try Self.step(item)) }
    }

    func apply(to configuration: inout MockAPNsConfiguration) {
        configuration.script = script
        configuration.furtherAddresses = addresses
        configuration.isSandbox = isSandbox
        configuration.firstStreamRule = firstStreamRule
    }

    /// - Throws: a ``ToolError`` where the script has keys that only a mock of APNs knows.
    func apply(to configuration: inout MockFCMConfiguration) throws {
        guard addresses.isEmpty, !isSandbox, firstStreamRule == .unchecked else {
            throw ToolError(
                .configuration,
                "the script has a mistake: listen, sandbox and first-stream are for holdfast mock http2 alone")
        }
        configuration.script = script
    }

    private static let requestKeys = ["answer", "delay", "pieces", "then"]

    private static func step(_ tree: YAMLTree) throws(YAMLFault) -> MockScript.Step {
        let map = try ScriptMap(tree, "a step", keys: ["name", "when", "connection"] + requestKeys)
        let match = try map["when"].map { tree throws(YAMLFault) in try Self.match(tree) } ?? MockScript.Match()
        guard let connection = map["connection"] else {
            return MockScript.Step(name: try map.text("name"), match, .answer(try MockAnswer(script: map)))
        }
        if let key = requestKeys.first(where: map.has) {
            throw YAMLFault(
                "a step is for connections or for requests: \(key) does not go with connection", at: map.place)
        }
        return MockScript.Step(
            name: try map.text("name"), match, .connect(try MockConnectionPlan(script: connection)))
    }

    private static func match(_ tree: YAMLTree) throws(YAMLFault) -> MockScript.Match {
        let map = try ScriptMap(
            tree, "when",
            keys: [
                "count", "number", "connection", "token", "not-token", "channel", "topic", "address", "after", "until",
                "once", "beyond", "skip", "every", "times", "first",
            ])
        if map.has("first"), map.has("times") { throw YAMLFault("first and times are the same", at: map.place) }
        let times = try map.count("times", 0...Int.max)
        let first = try map.count("first", 0...Int.max)
        return MockScript.Match(
            count: try map.range("count"), number: try map.range("number"), connections: try map.range("connection"),
            tokens: try map.texts("token"), exceptTokens: try map.texts("not-token"),
            channels: try map.texts("channel"),
            topics: try map.texts("topic"), address: try map.text("address"), after: try map.duration("after"),
            until: try map.duration("until"),
            once: try map.choice("once", MockScript.Match.Once.self), beyond: try map.count("beyond", 0...Int.max),
            skip: try map.count("skip", 0...Int.max) ?? 0,
            every: try map.count("every", 1...Int.max) ?? 1,
            times: times ?? first)
    }
}

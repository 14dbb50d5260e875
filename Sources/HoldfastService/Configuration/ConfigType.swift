internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastLegacyAPNs
internal import HoldfastPQ

/// The type of a key: how its text is read, and the words that describe it.
package struct ConfigType: Sendable {
    /// Why a text is none of this kind. Never the text itself where it may be a secret that was put in the wrong place.
    package struct Fault: Error {
        package var message: String
    }

    /// For the table of the keys, and behind "takes" in an error: `a size from 1M to 16384G, such as 64M`.
    package let allowed: String
    /// Whether it takes several texts: a list, or with commas in a variable.
    package var isList = false
    /// Whether a value is never shown, or not all of it.
    var isSecret = false
    /// Whether `off` in place of the key's whole group is this key's value.
    var switchesGroup = false
    /// - Parameter directory: what a relative path is relative to.
    package let parse: @Sendable (_ text: String, _ directory: String) throws(Fault) -> ConfigValue
    /// The value as text, as it is written in a file.
    package var write: @Sendable (ConfigValue) -> String = { value in
        switch value {
        case .text(let text): text
        case .texts(let texts): "[" + texts.joined(separator: ", ") + "]"
        case .count(let count): "\(count)"
        case .share(let share): "\(share)"
        case .duration(let duration): DurationText.text(duration)
        case .flag(let flag): "\(flag)"
        }
    }

    /// Text of so many bytes, without control characters.
    package static func text(_ what: String, _ bytes: ClosedRange<Int>) -> ConfigType {
        let allowed = "\(what), \(bytes.lowerBound) to \(bytes.upperBound) bytes"
        return ConfigType(allowed: allowed) { text, _ throws(Fault) in
            try checkText(text, bytes, allowed)
            return .text(text)
        }
    }

    /// A list of texts.
    package static func texts(_ what: String, _ bytes: ClosedRange<Int>, most: Int) -> ConfigType {
        let allowed = "a list of \(what), each \(bytes.lowerBound) to \(bytes.upperBound) bytes, at most \(most)"
        return ConfigType(allowed: allowed, isList: true) { text, _ throws(Fault) in
            let texts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard texts.count <= most else { throw Fault(message: "has \(texts.count); takes \(allowed)") }
            for (index, text) in texts.enumerated() {
                try checkText(text, bytes, allowed)
                guard !texts[..<index].contains(text) else {
                    throw Fault(message: "names \(text.debugDescription) twice")
                }
            }
            return .texts(texts)
        }
    }

    /// A topic, as notifications may have one.
    package static let topic = ConfigType(allowed: "a topic, \(topicForm)") { text, _ throws(Fault) in
        try checkTopic(text, "a topic, \(topicForm)")
        return .text(text)
    }

    /// A list of topics.
    package static func topics(most: Int) -> ConfigType {
        let allowed = "a list of topics, each \(topicForm), at most \(most)"
        let plain = texts("topics", topicBytes, most: most)
        return ConfigType(allowed: allowed, isList: true) { text, directory throws(Fault) in
            for topic in text.split(separator: "\n", omittingEmptySubsequences: false) {
                try checkTopic(String(topic), allowed)
            }
            return try plain.parse(text, directory)
        }
    }

    private static let topicBytes = 1...255
    private static let topicForm = "\(topicBytes.lowerBound) to \(topicBytes.upperBound) visible ASCII characters"

    private static func checkTopic(_ text: String, _ allowed: String) throws(Fault) {
        try checkText(text, topicBytes, allowed)
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            let problem = text.utf8.contains(0x20) ? "has spaces" : "has other characters"
            throw Fault(message: "\(quoted(text)) \(problem); takes \(allowed)")
        }
    }

    private static func checkText(_ text: String, _ bytes: ClosedRange<Int>, _ allowed: String) throws(Fault) {
        guard bytes.contains(text.utf8.count), !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            let problem = bytes.contains(text.utf8.count) ? "has control characters" : "has \(text.utf8.count) bytes"
            throw Fault(message: "\(problem); takes \(allowed)")
        }
    }

    package static func choice(_ choices: [String]) -> ConfigType {
        let allowed = choices.dropLast().map { "`\($0)`" }.joined(separator: ", ") + " or `\(choices.last ?? "")`"
        return ConfigType(allowed: allowed) { text, _ throws(Fault) in
            guard choices.contains(text) else {
                let nearest = NearestName.of(text, in: choices).map { " (did you mean \($0)?)" } ?? ""
                throw Fault(message: "is \(quoted(text))\(nearest); takes \(allowed)")
            }
            return .text(text)
        }
    }

    /// A list of some of these.
    package static func choices(_ choices: [String]) -> ConfigType {
        let one = choice(choices)
        let allowed = "a list of \(one.allowed)"
        return ConfigType(allowed: allowed, isList: true) { text, directory throws(Fault) in
            let texts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard !texts.isEmpty else { throw Fault(message: "is empty; takes \(allowed)") }
            for (index, text) in texts.enumerated() {
                _ = try one.parse(text, directory)
                guard !texts[..<index].contains(text) else { throw Fault(message: "names \(text) twice") }
            }
            return .texts(texts)
        }
    }

    package static let flag = ConfigType(allowed: "`true` or `false`") { text, _ throws(Fault) in
        guard text == "true" || text == "false" else {
            throw Fault(message: "is \(quoted(text)); takes `true` or `false`")
        }
        return .flag(text == "true")
    }

    package static func count(_ range: ClosedRange<Int>) -> ConfigType {
        let allowed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return ConfigType(allowed: allowed) { text, _ throws(Fault) in
            guard let count = number(text), range.contains(count) else {
                throw Fault(message: "is \(quoted(text)); takes \(allowed)")
            }
            return .count(count)
        }
    }

    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    package static func share(_ range: ClosedRange<Double>) -> ConfigType {
        let allowed = "a number from \(range.lowerBound.shortText) to \(range.upperBound.shortText)"
        return ConfigType(allowed: allowed) { text, _ throws(Fault) in
            let isPlain = text.utf8.allSatisfy {
                $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
            guard isPlain, let share = Double(text), range.contains(share) else {
                throw Fault(message: "is \(quoted(text)); takes \(allowed)")
            }
            return .share(share)
        } write: { value in
            if case .share(let share) = value { share.shortText } else { "" }
        }
    }

    package static func size(_ range: ClosedRange<Int>) -> ConfigType {
        let allowed = "a size from \(SizeText.text(range.lowerBound)) to \(SizeText.text(range.upperBound))"
        return ConfigType(allowed: allowed) { text, _ throws(Fault) in
            guard let size = SizeText.value(text), range.contains(size) else {
                throw Fault(message: "is \(quoted(text)); takes \(allowed), such as 64M or 16G")
            }
            return .count(size)
        } write: { value in
            if case .count(let size) = value { SizeText.text(size) } else { "" }
        }
    }

    package static func duration(_ range: ClosedRange<Duration>) -> ConfigType {
        let bounds = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
        let allowed = "a duration from \(bounds.0) to \(bounds.1)"
        return ConfigType(allowed: allowed) { text, _ throws(Fault) in
            guard let duration = DurationText.value(text), range.contains(duration) else {
                throw Fault(message: "is \(quoted(text)); takes \(allowed), such as 500ms, 30s, 5m, 1h or 3d")
            }
            return .duration(duration)
        }
    }

    /// A duration, or none: `off` is zero.
    package static func durationOrOff(_ range: ClosedRange<Duration>) -> ConfigType {
        let plain = duration(range)
        return ConfigType(allowed: "\(plain.allowed), or `off`", switchesGroup: true) { text, directory throws(Fault) in
            if text == "off" { return .duration(.zero) }
            do throws(Fault) {
                return try plain.parse(text, directory)
            } catch {
                throw Fault(message: "\(error.message), or `off`")
            }
        } write: { value in
            value == .duration(.zero) ? "off" : plain.write(value)
        }
    }

    /// A path, absolute or relative to the file's directory. What is there is not looked at.
    package static let path = ConfigType(allowed: "a path") { text, directory throws(Fault) in
        .text(try absolute(text, in: directory))
    }

    /// A path as ``path``, or one that begins with `$CREDENTIALS_DIRECTORY/`, which stays as it is.
    package static let credential = ConfigType(allowed: "a path") { text, directory throws(Fault) in
        guard text.hasPrefix("$CREDENTIALS_DIRECTORY/") else { return .text(try absolute(text, in: directory)) }
        _ = try absolute(text, in: directory)
        return .text(text)
    }

    /// A file that is there and can be read.
    package static let file = ConfigType(allowed: "a file") { text, directory throws(Fault) in
        let path = try absolute(text, in: directory)
        guard FileManager.default.fileExists(atPath: path) else { throw Fault(message: "there is no file \(path)") }
        guard !isDirectory(path) else { throw Fault(message: "\(path) is a directory; takes a file") }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw Fault(message: "the file \(path) may not be read by this user")
        }
        return .text(path)
    }

    private static func isDirectory(_ path: String) -> Bool {
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do {
            return try FileManager.default.attributesOfItem(atPath: real)[.type] as? FileAttributeType == .typeDirectory
        } catch {
            // Reading the file shows what it is.
            return false
        }
    }

    private static func absolute(_ text: String, in directory: String) throws(Fault) -> String {
        // The text may be the content of such a file, put here by mistake, and must not be printed.
        guard !text.isEmpty, text.utf8.count <= 4096, !text.unicodeScalars.contains(where: { $0.value < 0x20 }),
            !text.hasPrefix("-----")
        else { throw Fault(message: "is no path, at most 4096 bytes on one line") }
        return URL(fileURLWithPath: text, relativeTo: URL(fileURLWithPath: directory, isDirectory: true))
            .standardizedFileURL.path
    }

    /// PEM text. Never shown again: it may hold a private key.
    package static func pem(_ what: String) -> ConfigType {
        let allowed = "\(what) as PEM text"
        return ConfigType(allowed: allowed, isSecret: true) { text, _ throws(Fault) in
            // A variable of the environment often has its line ends written out.
            let lines = text.contains("\n") ? text : text.replacingOccurrences(of: #"\n"#, with: "\n")
            guard lines.utf8.count <= 65_536 else { throw Fault(message: "has more than 64 KB; takes \(allowed)") }
            guard lines.contains("-----BEGIN "), lines.contains("-----END ") else {
                throw Fault(message: "has no lines -----BEGIN …----- and -----END …-----; takes \(allowed)")
            }
            return .text(lines)
        } write: { _ in
            "(secret)"
        }
    }

    /// Text that is never shown again.
    package static func secret(_ what: String, _ bytes: ClosedRange<Int>) -> ConfigType {
        let plain = text(what, bytes)
        return ConfigType(allowed: plain.allowed, isSecret: true, parse: plain.parse) { _ in "(secret)" }
    }

    /// Which database, for libpq. May have a password.
    package static let postgres = ConfigType(
        allowed: "a connection string of PostgreSQL, up to 2000 bytes", isSecret: true
    ) { text, _ throws(Fault) in
        do throws(PQError) {
            _ = try PQTarget(text)
        } catch {
            throw Fault(message: error.message)
        }
        return .text(text)
    } write: { _ in
        "(secret)"
    }

    /// Where a route sends.
    package static let endpoint = ConfigType(
        allowed:
            "`production`, `sandbox`, `https://HOST[:PORT]` or `binary+tls://HOST[:PORT]`, and `http://` or `binary://` "
            + "with a loopback address"
    ) { text, _ throws(Fault) in
        do {
            if RouteSettings.isBinary(text) {
                _ = try LegacyAPNsEndpoint(text)
            } else {
                _ = try APNsEndpoint(text)
            }
        } catch {
            throw Fault(message: "\(error); binary+tls://HOST[:PORT] is for the binary protocol")
        }
        return .text(text)
    }

    /// Where broadcast channels are managed.
    package static let managementEndpoint = ConfigType(
        allowed: "`production`, `sandbox` or `https://HOST[:PORT]`"
    ) { text, _ throws(Fault) in
        do throws(APNsConfigurationError) {
            _ = try APNsEndpoint(management: text)
        } catch {
            throw Fault(message: error.message)
        }
        return .text(text)
    }

    /// Where feedback is read.
    package static let feedbackEndpoint = ConfigType(
        allowed: "`feedback+tls://HOST[:PORT]`, and `feedback://` with a loopback address"
    ) { text, _ throws(Fault) in
        do throws(LegacyAPNsConfigurationError) {
            _ = try LegacyAPNsFeedbackEndpoint(text)
        } catch {
            throw Fault(message: error.message)
        }
        return .text(text)
    }

    /// Shortened: it may be anything.
    private static func quoted(_ text: String) -> String {
        text.utf8.count <= 40 ? text.debugDescription : "a text of \(text.utf8.count) bytes"
    }
}

extension Double {
    /// `5`, `0.75`: without a fraction that says nothing.
    fileprivate var shortText: String {
        self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)"
    }
}

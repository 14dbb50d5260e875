internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastRequests

extension FCMAnswer {
    /// Reads an answer. Bytes that are not Google's JSON, whole and with nothing behind it, leave `code` and `errorCode` nil:
    /// what a proxy has cut off or added to is not the service's word.
    init(_ response: HTTP2Response, at now: WallTime) {
        self.init(status: response.status, body: response.body, retryAfter: response.retryAfter(at: now))
    }

    /// - Parameter retryAfter: of the header field, which goes before the body's.
    init(status: Int, body: [UInt8], retryAfter: Duration? = nil) {
        self.init(status: status)
        if status != 200, !body.isEmpty {
            var error = FCMErrorReader()
            do throws(JSONFault) {
                try error.read(body.span)
                (errorCode, code, subject) = (error.errorCode, error.status, error.subject)
                self.retryAfter = error.retryDelay
            } catch {
                // Foreign bytes. The answer is classified by its status.
            }
        }
        if let retryAfter { self.retryAfter = retryAfter }
    }

    /// Whether the body of a success is one of Google's: an object with the message's `name`, `projects/P/messages/ID`, and no
    /// error. Other servers answer 200 with objects and names of their own.
    static func isSuccess(_ body: [UInt8]) -> Bool {
        do throws(JSONFault) {
            var members = try JSONMembers(body.span, in: 0..<body.count)
            var hasName = false
            while let member = try members.next(body.span) {
                if JSONScanner.isString(body.span, in: member.name, equalTo: "name") {
                    guard !hasName, member.value.kind == .string else { return false }
                    hasName = isName(body.span.extracting(member.value.range))
                } else if JSONScanner.isString(body.span, in: member.name, equalTo: "error") {
                    return false
                }
            }
            return hasName
        } catch {
            return false
        }
    }

    private static let projects = Array(#""projects/"#.utf8)
    private static let messages = Array("/messages/".utf8)

    /// - Parameter text: with its quotes, and without escapes, which Google has no need of. By bytes: each success has one.
    private static func isName(_ text: Span<UInt8>) -> Bool {
        guard text.has(projects, at: 0) else { return false }
        var slash = projects.count
        while slash < text.count, text[slash] != UInt8(ascii: "/") { slash += 1 }
        guard slash > projects.count, text.has(messages, at: slash) else { return false }
        let id = slash + messages.count..<text.count - 1
        return !id.isEmpty && !id.contains { text[$0] == UInt8(ascii: "/") }
    }
}

/// Reads Google's form of errors (google.rpc.Status in JSON): `{"error":{"code":404,"message":…,"status":"NOT_FOUND",
/// "details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}`.
private struct FCMErrorReader {
    var status: String?
    var errorCode: String?
    var retryDelay: Duration?
    private var message = ""
    /// The fields that are malformed, and the quotas that are used up, as the details name them.
    private var fields: [String] = []
    private var quotas: [String] = []

    mutating func read(_ bytes: Span<UInt8>) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: 0..<bytes.count)
        while let member = try members.next(bytes) {
            guard JSONScanner.isString(bytes, in: member.name, equalTo: "error"), member.value.kind == .object else {
                continue
            }
            try readError(bytes, in: member.value.range)
        }
    }

    private mutating func readError(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: range)
        while let member = try members.next(bytes) {
            let (name, value) = (member.name, member.value)
            if JSONScanner.isString(bytes, in: name, equalTo: "status"), value.kind == .string {
                status = try JSONScanner.string(bytes, in: value.range)
            } else if JSONScanner.isString(bytes, in: name, equalTo: "message"), value.kind == .string {
                message = try JSONScanner.string(bytes, in: value.range)
            } else if JSONScanner.isString(bytes, in: name, equalTo: "details"), value.kind == .array {
                var details = try JSONElements(bytes, in: value.range)
                while let detail = try details.next(bytes) {
                    if detail.kind == .object { try readDetail(bytes, in: detail.range) }
                }
            }
        }
    }

    /// The kinds of details are told apart by their members, which differ.
    private mutating func readDetail(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: range)
        while let member = try members.next(bytes) {
            let (name, value) = (member.name, member.value)
            if JSONScanner.isString(bytes, in: name, equalTo: "errorCode"), value.kind == .string {
                errorCode = try JSONScanner.string(bytes, in: value.range)
            } else if JSONScanner.isString(bytes, in: name, equalTo: "retryDelay"), value.kind == .string {
                retryDelay = Self.seconds(try JSONScanner.string(bytes, in: value.range))
            } else if JSONScanner.isString(bytes, in: name, equalTo: "fieldViolations"), value.kind == .array {
                fields += try Self.texts(bytes, in: value.range, named: ["field"])
            } else if JSONScanner.isString(bytes, in: name, equalTo: "violations"), value.kind == .array {
                quotas += try Self.texts(
                    bytes, in: value.range, named: ["subject", "description", "quotaMetric", "quotaId"])
            }
        }
    }

    /// The values of these members of each object in an array.
    private static func texts(
        _ bytes: Span<UInt8>, in range: Range<Int>, named names: [String]
    ) throws(JSONFault) -> [String] {
        var texts: [String] = []
        var elements = try JSONElements(bytes, in: range)
        while let element = try elements.next(bytes) {
            guard element.kind == .object else { continue }
            var members = try JSONMembers(bytes, in: element.range)
            while let member = try members.next(bytes) {
                guard member.value.kind == .string else { continue }
                for name in names where JSONScanner.isString(bytes, in: member.name, equalTo: name) {
                    texts.append(try JSONScanner.string(bytes, in: member.value.range))
                }
            }
        }
        return texts
    }

    /// A google.protobuf.Duration: `30s`, `1.5s`. A day at most.
    private static func seconds(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds >= 0 else { return nil }
        return .milliseconds(Int64(min(seconds, 86_400) * 1000))
    }

    /// Google names a bad target by its field; in older answers only the message says so: `The registration token is not a
    /// valid FCM registration token`. Of quotas it says device, topic or neither.
    var subject: FCMAnswer.Subject {
        let targets = ["message.token", "message.fid", "message.topic", "message.condition"]
        if fields.contains(where: targets.contains) { return .target }
        let words = Set(
            (quotas + [message]).joined(separator: " ").lowercased().split { !$0.isLetter }.map(String.init))
        if status == "RESOURCE_EXHAUSTED" || errorCode == "QUOTA_EXCEEDED" {
            return words.contains("device") || words.contains("topic") ? .target : .other
        }
        guard fields.isEmpty else { return .other }
        return message.lowercased().contains("registration token") ? .target : .other
    }
}

internal import ArgumentParser
internal import Holdfast
internal import HoldfastFCM
internal import HoldfastService

/// The targets of one message by hand for Firebase Cloud Messaging, and its data.
struct FirebaseMessageOptions: ParsableArguments {
    @Option(
        name: .customLong("fcm-fid"),
        help: ArgumentHelp(
            """
            Send through Firebase Cloud Messaging to this installation id; may be repeated, for one message each. \
            The content is --title, --alert and --data, or with --payload Google's message without its target.
            """, valueName: "fid"))
    var fid: [String] = []

    @Option(
        name: .customLong("fcm-token"),
        help: ArgumentHelp("The same to this registration token; may be repeated.", valueName: "token"))
    var token: [String] = []

    @Option(
        name: .customLong("fcm-topic"),
        help: ArgumentHelp("The same to everybody who follows this topic; may be repeated.", valueName: "topic"))
    var topic: [String] = []

    @Option(
        name: .customLong("fcm-condition"),
        help: ArgumentHelp(
            """
            The same to everybody for whom this condition over topics holds; may be repeated.
            """, valueName: "condition"))
    var condition: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            FCM: an entry of the message's data, KEY=VALUE; may be repeated.
            """, valueName: "key=value"))
    var data: [String] = []

    private var all: [(flag: String, kind: ServiceAddress.Kind, texts: [String])] {
        [
            ("--fcm-fid", .firebaseInstallation, fid), ("--fcm-token", .firebaseToken, token),
            ("--fcm-topic", .firebaseTopic, topic), ("--fcm-condition", .firebaseCondition, condition),
        ]
    }

    /// The flags of targets that were given.
    var targets: [String] { all.filter { !$0.texts.isEmpty }.map(\.flag) }

    /// Flags that were given.
    var given: [String] { targets + (data.isEmpty ? [] : ["--data"]) }

    /// How many messages are meant.
    var count: Int { all.reduce(0) { $0 + $1.texts.count } }

    var addresses: [ServiceAddress] {
        get throws(Refusal) {
            var addresses: [ServiceAddress] = []
            for (_, kind, texts) in all { for text in texts { addresses.append(try ServiceAddress(kind, text)) } }
            return addresses
        }
    }

    /// Checks the targets, one by one.
    ///
    /// - Throws: a `ValidationError` that names the flag. Not the text itself: it may be a token all the same.
    func checkTargets() throws {
        for (flag, kind, texts) in all {
            for (index, text) in texts.enumerated() {
                do throws(Refusal) { _ = try ServiceAddress(kind, text) } catch {
                    let place = texts.count > 1 ? "\(flag) number \(index + 1)" : flag
                    throw ValidationError("\(place): \(error.detail).")
                }
            }
        }
        _ = try pairs()
    }

    /// The entries of data, by their keys.
    private func pairs() throws -> [(key: String, value: String)] {
        var pairs: [(key: String, value: String)] = []
        for item in data {
            guard let sign = item.firstIndex(of: "="), sign > item.startIndex else {
                throw ValidationError("--data must be KEY=VALUE.")
            }
            let key = String(item[..<sign])
            guard !pairs.contains(where: { $0.key == key }) else {
                throw ValidationError("--data gives \(key.debugDescription) twice.")
            }
            pairs.append((key, String(item[item.index(after: sign)...])))
        }
        return pairs
    }

    /// The message that flags make, without its target. Its time to live is added at each attempt.
    func content(title: String?, body: String?, priority: Priority?) throws -> [UInt8] {
        func object(_ members: [(key: String, value: String)]) -> String {
            "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        }
        func quoted(_ members: [(key: String, value: String)]) -> [(key: String, value: String)] {
            members.map { (JSONText.escaped($0.key), "\"\(JSONText.escaped($0.value))\"") }
        }
        let shown = [("title", title), ("body", body)].compactMap { name, text in text.map { (key: name, value: $0) } }
        let pairs = try pairs()
        var members: [(key: String, value: String)] = []
        if !shown.isEmpty { members.append(("notification", object(quoted(shown)))) }
        if !pairs.isEmpty { members.append(("data", object(quoted(pairs)))) }
        if let priority {
            let android = [(key: "priority", value: priority == .immediate ? "HIGH" : "NORMAL")]
            members.append(("android", object(quoted(android))))
        }
        return Array(object(members).utf8)
    }
}

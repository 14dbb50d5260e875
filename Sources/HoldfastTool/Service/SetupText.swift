internal import Foundation

/// The text of a configuration that `holdfast init` makes: few keys, each with its purpose.
struct SetupText {
    let plan: ServiceSetup
    /// Names beside the configuration, or paths.
    let key: String?
    let certificate: String?
    let certificateKey: String?
    let passphrase: String?
    let trust: String?
    let journal: String

    var yaml: String {
        let topics = "[\(plan.topics.map(Self.scalar).joined(separator: ", "))]"
        var lines = [
            "# Made by `holdfast init`. Docs/Reference/Configuration.md has all keys. Paths are relative to this file.",
            "# After a change: `holdfast serve --check`, then SIGHUP (`systemctl reload holdfast`).",
            "",
            "# Everything that was accepted and has no answer yet.",
            "journal: {path: \(Self.scalar(journal))}",
            "",
            "routes:",
            "  - name: default",
            "    topics: \(topics)",
            "    endpoint: \(Self.scalar(plan.endpoint))",
        ]
        if let trust { lines.append("    trust: \(Self.scalar(trust))") }
        if let key, let signing = plan.signingKey {
            lines.append(
                "    signing-key: {file: \(Self.scalar(key)), key-id: \(Self.scalar(signing.keyID)), "
                    + "team-id: \(Self.scalar(signing.teamID))}")
        }
        if let certificate {
            let parts =
                ["file: \(Self.scalar(certificate))"] + (certificateKey.map { ["key: \(Self.scalar($0))"] } ?? [])
                + (passphrase.map { ["passphrase-file: \(Self.scalar($0))"] } ?? [])
            lines.append("    certificate: {\(parts.joined(separator: ", "))}")
        }
        lines += ["", "# Where senders connect in place of Apple: change their host, and let them trust tls/ca.pem."]
        lines += gateway
        if let admin = plan.admin {
            lines += ["", "# /health/live, /health/ready and /metrics.", "admin: {listen: \(Self.quoted(admin))}"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var gateway: [String] {
        let tls = "certificate: tls/server.pem, key: tls/server.key"
        let clients = plan.client == nil ? "" : ", clients: tls/ca.pem"
        let topic = plan.topics.first.map { ", topic: \(Self.scalar($0))" } ?? ""
        func listener(_ name: String, _ address: String, _ more: String) -> String {
            "\(name): {listen: \(Self.quoted(address)), \(tls)\(clients)\(more)}"
        }
        let listeners = [
            plan.http2.map { listener("http2", $0, "") }, plan.binary.map { listener("binary", $0, topic) },
            plan.feedback.map { listener("feedback", $0, topic) },
        ].compactMap(\.self)
        var lines = ["gateway:"] + listeners.map { "  \($0)" }
        let others = [
            plan.binary == nil ? listener("binary", "127.0.0.1:2195", topic) : nil,
            plan.feedback == nil ? listener("feedback", "127.0.0.1:2196", topic) : nil,
        ].compactMap(\.self)
        if !others.isEmpty {
            lines.append("  # For senders that speak Apple's protocol of before 2021:")
            lines += others.map { "  # \($0)" }
        }
        return lines
    }

    /// A value in YAML, plain where that is what it says.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.first.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "/") } == true
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-/".contains($0)) }
        return isPlain ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\\(scalar)"
            case "\0"..<" ", "\u{7F}":
                output += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}

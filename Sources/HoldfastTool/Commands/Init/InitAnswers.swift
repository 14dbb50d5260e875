internal import ArgumentParser
internal import Foundation

/// The facts that `init` needs before it can begin: from flags, or from answers on a terminal.
struct InitAnswers {
    private(set) var topics: [String]
    private(set) var endpoint: String
    private(set) var signingKey: ServiceSetup.SigningKey?
    private(set) var certificate: ServiceSetup.Certificate?

    /// - Throws: a `ValidationError` that names the flags that are missing when nobody can be asked.
    init(_ flags: InitCommand) throws {
        let isAsked = !flags.json && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
        var missing: [String] = []
        func need(_ flag: String, _ question: String, _ given: String?, default standard: String? = nil) throws
            -> String
        {
            if let given { return given }
            if isAsked { return try Self.ask(question, default: standard) }
            if let standard { return standard }
            missing.append(flag)
            return ""
        }

        topics = flags.topic
        if topics.isEmpty {
            topics = [try need("--topic <topic>", "The topic, which is the app's bundle id", nil)]
        }
        endpoint = try need(
            "--endpoint", "The push service: production, sandbox or a URL", flags.endpoint, default: "production")
        let isApple = ["production", "sandbox"].contains(String(endpoint.prefix { $0 != ":" }))
        let hasKeyFlag = flags.key != nil || flags.keyID != nil || flags.teamID != nil
        if flags.certificate == nil, hasKeyFlag || isApple {
            let file = try need(
                "--key <p8> or --certificate <file>", "Apple's key file (.p8), or a client certificate (.p12, .pem)",
                flags.key)
            if flags.key == nil, !file.isEmpty, !file.lowercased().hasSuffix(".p8"), !hasKeyFlag {
                let passphrase = try Self.ask("The file with its passphrase, if it has one", default: "")
                certificate = .init(file: file, key: nil, passphraseFile: passphrase.isEmpty ? nil : passphrase)
            } else if !file.isEmpty {
                let keyID = try need(
                    "--key-id <id>", "The key's identifier", flags.keyID, default: Self.keyID(in: file))
                let teamID = try need("--team-id <id>", "The team's identifier", flags.teamID)
                signingKey = .init(file: file, keyID: keyID, teamID: teamID)
            }
        } else if let file = flags.certificate {
            certificate = .init(file: file, key: flags.certificateKey, passphraseFile: flags.passphraseFile)
        }
        guard missing.isEmpty else {
            throw ValidationError("Missing \(missing.joined(separator: ", ")): without a terminal nobody can be asked.")
        }
    }

    /// `ABC123DEFG` of `AuthKey_ABC123DEFG.p8`, as Apple names it.
    private static func keyID(in file: String) -> String? {
        let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        guard name.hasPrefix("AuthKey_") else { return nil }
        let id = String(name.dropFirst("AuthKey_".count))
        return id.isEmpty ? nil : id
    }

    /// - Parameter standard: the answer that an empty line is; nil asks again.
    private static func ask(_ question: String, default standard: String?) throws -> String {
        while true {
            let hint = standard.flatMap { $0.isEmpty ? nil : " [\($0)]" } ?? ""
            Console.standard.prompt("\(question)\(hint): ")
            guard let line = readLine(strippingNewline: true) else {
                throw ToolError(.usage, "the input ended before all was answered: nothing was made")
            }
            let answer = line.trimmingCharacters(in: .whitespaces)
            if !answer.isEmpty { return answer }
            if let standard { return standard }
        }
    }
}

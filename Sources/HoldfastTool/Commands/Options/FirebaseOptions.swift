internal import ArgumentParser
internal import HoldfastFCM
internal import HoldfastService

/// The project of Firebase Cloud Messaging that is sent for, and as whom.
struct FirebaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The Firebase project, for a message given by flags and for lines without one. (default: that of the only \
            route to FCM, or of the service account)
            """, valueName: "project"),
        transform: Self.project)
    var project: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Send to Firebase Cloud Messaging, with this key file of a service account. --endpoint is then another \
            address of it. (default: the one that the journal remembers)
            """, valueName: "json"),
        completion: .file(extensions: ["json"]))
    var serviceAccount: String?

    private static func project(_ text: String) throws -> String {
        guard ServiceAccount.isProject(text) else {
            throw ValidationError("\(text.debugDescription) is no project id: the Firebase console shows it.")
        }
        return text
    }

    /// Flags that were given and say where to send, or as whom.
    var given: [String] { serviceAccount == nil ? [] : ["--service-account"] }

    /// The route to FCM that these flags make of what the journal remembers, or the configuration says; nil for a route to
    /// Apple's services.
    ///
    /// - Throws: a `ValidationError` when something is missing, or is for Apple's services; ``ToolError`` for a service account
    ///   that can't be read.
    func route(over remembered: RouteSettings?, _ flags: RouteOptions) throws -> RouteSettings? {
        guard serviceAccount != nil || remembered?.firebase != nil else { return nil }
        // Its lanes are named like the former route's: what waits there would go to the other service, which refuses it.
        if let remembered, remembered.firebase == nil {
            throw ValidationError(
                "--service-account is for FCM, and this journal's route is to \(remembered.endpoint): use another journal, or "
                    + "a configuration with a route to each.")
        }
        let apples =
            flags.keyOptions.given + flags.tlsOptions.given.filter { $0 != "--trust" }
            + [
                flags.topic.map { _ in "--topic" }, flags.confirm.map { _ in "--confirm" },
                flags.quietPeriod.map { _ in "--quiet-period" },
            ].compactMap { $0 }
        if let flag = apples.first {
            throw ValidationError("\(flag) is for Apple's services, and this route is to Firebase Cloud Messaging.")
        }
        var route = try remembered ?? made(flags)
        if let serviceAccount {
            route.firebase?.serviceAccount = TLSOptions.absolute(serviceAccount)
            route.firebase?.tokenCommand = []
        }
        if let project, project != route.firebase?.project {
            throw ValidationError(
                "--project \(project) contradicts this journal's route, which is for \(route.firebase?.project ?? "").")
        }
        if let endpoint = flags.endpoint { route.endpoint = endpoint }
        if let connections = flags.connections { route.connections = connections }
        var certificate: RouteSettings.Certificate?
        try flags.tlsOptions.apply(trust: &route.trust, certificate: &certificate)
        return route
    }

    private func made(_ flags: RouteOptions) throws -> RouteSettings {
        let file = TLSOptions.absolute(serviceAccount ?? "")
        if let project { return RouteSettings(firebase: FirebaseSettings(project: project)) }
        do throws(FCMConfigurationError) {
            return RouteSettings(firebase: FirebaseSettings(project: try ServiceAccount(file: file).projectID))
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}

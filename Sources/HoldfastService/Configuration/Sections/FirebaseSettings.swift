internal import Holdfast
internal import HoldfastFCM
internal import HoldfastTransport

/// What a route to Firebase Cloud Messaging has beside every route: its project, its credentials, and how messages are sent.
package struct FirebaseSettings: Equatable, Sendable {
    /// The id of the project: the topic of its notifications.
    package var project: String
    /// The file of the service account; nil for ``tokenCommand``.
    package var serviceAccount: String?
    /// The command that prints access tokens, word by word; empty for ``serviceAccount``.
    package var tokenCommand: [String] = []
    /// The IP addresses to connect to; empty for those of the endpoint's name.
    package var addresses: [String] = []
    /// Whether messages are only checked.
    package var validatesOnly = false
    /// The key of a message's data that gets the notification's id; nil for none.
    package var idKey: String?

    /// Google's own endpoint, as it is shown.
    package static let endpoint = FCMEndpoint.production.description

    package init(project: String) { self.project = project }

    /// In the section of a route.
    package static let keys = [
        ConfigKey(
            "project", .project,
            "FCM: the id of the Firebase project, in place of `topics`: notifications of this topic, and lines with this "
                + "`project`, are sent by this route"),
        ConfigKey(
            "service-account", .file,
            "FCM: the key file of a service account that may send for the project, as the Firebase console gives it: access "
                + "tokens are fetched with it"),
        ConfigKey(
            "token-command", .texts("words", 1...4096, most: 64),
            "FCM: in place of `service-account`, the command that prints an access token, word by word: "
                + "`[gcloud, auth, print-access-token]`. It prints the token alone, or JSON as Google's metadata server answers"
        ),
        ConfigKey(
            "address", .texts("IP addresses", 2...45, most: 16),
            "FCM: the addresses to connect to, where the endpoint's name leads elsewhere, such as to a gateway; TLS and "
                + "requests keep the name. Endpoints of access tokens under `googleapis.com` are reached there, too"),
        ConfigKey(
            "validate-only", .flag, default: "false",
            "FCM: whether Google only checks each message (`validateOnly`), and delivers none"),
        ConfigKey(
            "id-key", .text("a key of data", 1...64),
            "FCM: a key of each message's `data` that gets the notification's id, for apps that drop repeats"),
    ]

    /// Keys that Apple's services alone have.
    static let foreignKeys = [
        "topics", "environment", "other-environment", "channels-endpoint", "verify-host-name", "signing-key.file",
        "signing-key.pem", "signing-key.key-id", "signing-key.team-id", "certificate.file", "certificate.pem",
        "certificate.key", "certificate.passphrase-file", "certificate.passphrase", "newest-wins", "confirm",
        "quiet-period", "feedback.endpoint", "feedback.interval",
    ]

    /// - Precondition: the values are without a mistake.
    init(_ values: ConfigValues) {
        project = values.text("project") ?? ""
        serviceAccount = values.text("service-account")
        tokenCommand = values.texts("token-command") ?? []
        addresses = values.texts("address") ?? []
        validatesOnly = values.flag("validate-only") ?? false
        idKey = values.text("id-key")
    }

    // MARK: Mistakes

    /// Whether these are the values of a route to FCM. What it was meant to be is not known where that is a mistake.
    static func areMeant(_ values: ConfigValues) -> Bool {
        values.text("service") == RouteSettings.Service.fcm.rawValue
    }

    /// Checks the values of a route to FCM.
    static func check(_ values: ConfigValues, _ problems: inout [ConfigProblem]) {
        for key in foreignKeys where values.isGiven(key) {
            let why =
                key == "topics"
                ? "is for `service: apns`: a route to FCM serves its `project`"
                : "is for `service: apns`, and this route is for FCM"
            problems.append(values.problem(key, why))
        }
        if !values.isGiven("project"), !values.isUnknown("project") {
            problems.append(values.problem("project", "is missing; takes \(ConfigType.project.allowed)"))
        }
        let (account, command) = (values.isGiven("service-account"), values.isGiven("token-command"))
        if account, command {
            problems.append(values.problem("token-command", "contradicts service-account: the one or the other"))
        } else if !account, !command {
            problems.append(
                values.problem(
                    "service-account",
                    "is missing: the key file of a service account, or token-command in its place"))
        }
        if let endpoint = values.text("endpoint") {
            do throws(FCMConfigurationError) { _ = try FCMEndpoint(endpoint) } catch {
                problems.append(values.problem("endpoint", error.message))
            }
        }
    }

    /// Checks the values of any other route.
    static func checkOthers(_ values: ConfigValues, _ problems: inout [ConfigProblem]) {
        for key in keys.map(\.name) where values.isGiven(key) {
            problems.append(values.problem(key, "is for `service: fcm`, and this route is for Apple's services"))
        }
    }
}

extension FirebaseSettings {
    /// The source of access tokens. Reads the service account's file.
    ///
    /// - Throws: ``FCMConfigurationError`` that names the file and the fault.
    func configuration() throws(FCMConfigurationError) -> FCMConnector.Configuration {
        var configuration =
            if let serviceAccount {
                FCMConnector.Configuration(serviceAccount: try ServiceAccount(file: serviceAccount))
            } else {
                FCMConnector.Configuration(command: TokenCommand(tokenCommand), project: project)
            }
        configuration.project = project
        configuration.addresses = addresses
        configuration.validatesOnly = validatesOnly
        configuration.idKey = idKey
        return configuration
    }
}

extension ConfigType {
    /// The id of a project of Google's.
    package static let project = ConfigType(allowed: "the id of a project, such as `my-app-1a2b3`") {
        text, _ throws(Fault) in
        guard ServiceAccount.isProject(text) else {
            throw Fault(
                message: "is no project id: 6 to 30 lower-case letters, digits and hyphens, as the Firebase console "
                    + "shows")
        }
        return .text(text)
    }
}

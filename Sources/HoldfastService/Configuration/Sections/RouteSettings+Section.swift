internal import Holdfast

/// `routes:` — where topics are sent, and as whom.
extension RouteSettings {
    package static let section = ConfigSection(
        name: "routes", isList: true,
        meaning:
            "where the notifications of which topics are sent, and as whom. Without any, flags say it, or what the "
            + "journal remembers",
        keys: [
            ConfigKey(
                "name", .text("a name", 1...64), default: standardName,
                "part of the names of the route's lanes in the journal: a route with another name leaves its entries behind. It "
                    + "does not begin with `-`"
            ),
            ConfigKey(
                "service", .choice(Service.allCases.map(\.rawValue)), default: Service.apns.rawValue,
                "the push service: `apns` is Apple's, `fcm` Firebase Cloud Messaging"),
            ConfigKey(
                "topics", .topics(most: 1000),
                "which topics it serves; one route may be without, and serves all others"),
            ConfigKey(
                "endpoint", .endpoint, need: .unless("service", Service.fcm.rawValue),
                "where to send; `production:2197` is Apple's other port, binary+tls:// the binary protocol. FCM: without it, "
                    + "Google's own, which `production` means, too"),
            ConfigKey(
                "environment", .choice(PushEnvironment.allCases.map(\.rawValue)),
                "which environment it serves; two routes may share topics, one for each. Without it, that of an `endpoint` "
                    + "of Apple's; of another one, both"),
            ConfigKey(
                "other-environment", .choice(["try", "never"]), default: "never",
                "whether a notification whose token the service calls bad (`BadDeviceToken`) is tried once on the route "
                    + "that serves its topic in the other environment"),
            ConfigKey(
                "channels-endpoint", .managementEndpoint,
                "HTTP/2: where `holdfast channels` manages broadcast channels; without it, Apple's place for that in the "
                    + "endpoint's environment"),
            ConfigKey("trust", .file, "PEM file with the certificates to trust, instead of the system's"),
        ] + FirebaseSettings.keys + NetworkSettings.keys + [
            ConfigKey(
                "signing-key.file", .file, need: .withGroupUnless("signing-key.pem"),
                "Apple's `.p8` file, to sign provider tokens with (HTTP/2)"),
            ConfigKey(
                "signing-key.pem", .pem("the key"),
                "the key itself, in place of a file: for a variable that holds a secret"),
            ConfigKey("signing-key.key-id", .text("an identifier", 1...64), need: .withGroup, "the key's identifier"),
            ConfigKey("signing-key.team-id", .text("an identifier", 1...64), need: .withGroup, "the team's identifier"),
            ConfigKey(
                "certificate.file", .file, need: .withGroupUnless("certificate.pem"),
                "what the service knows us by, in place of a signing key: PEM, or `.p12`"),
            ConfigKey(
                "certificate.pem", .pem("the certificate and its key"),
                "both themselves, in place of files: for a variable that holds a secret"),
            ConfigKey("certificate.key", .file, "its key, PEM; without it, the key is in the same file"),
            ConfigKey(
                "certificate.passphrase-file", .file,
                "the first line of this file is the passphrase of the key or `.p12`"),
            ConfigKey(
                "certificate.passphrase", .secret("a passphrase", 1...1024),
                "the passphrase itself, in place of a file: for a variable that holds a secret"),
            ConfigKey(
                "reload-every", .duration(.zero...(.seconds(24 * 3600))), default: "10s",
                "how often the files of the key, the service account, the certificate and `trust` are looked at, and taken up when they have "
                    + "changed; `0s` for never"),
            ConfigKey(
                "connections", .count(connectionCounts),
                "the most connections at a time; without it, 2 with Apple's HTTP/2, 10 to FCM, and 1 on the binary protocol, "
                    + "where each has a window of its own"),
            ConfigKey(
                "scale.minimum", .count(connectionCounts), default: "1",
                "HTTP/2: so many connections are kept, once there was something to send"),
            ConfigKey(
                "scale.grow-above", .count(0...1_000_000), default: "200",
                "HTTP/2: one more is made when more entries than this wait …"),
            ConfigKey("scale.grow-after", .duration(.zero...(.seconds(24 * 3600))), default: "10s", "… for this long"),
            ConfigKey(
                "scale.shrink-below", .count(0...1_000_000), default: "50",
                "HTTP/2: one is closed when fewer entries than this wait …"),
            ConfigKey("scale.shrink-after", .duration(.zero...(.seconds(24 * 3600))), default: "5m", "… for this long"),
            ConfigKey(
                "rate.per-second", .share(0.001...1_000_000), need: .withGroup,
                "notifications a second that the route sends at most, on all hosts of a fleet together; without it, as many as "
                    + "the service takes, and to FCM 9600, below Google's quota"),
            ConfigKey(
                "rate.burst", .count(1...1_000_000),
                "how many may go at once after a pause; without it, those of a second"),
            ConfigKey(
                "rate.ramp-up", .duration(.zero...(.seconds(3600))),
                "the time in which rate and burst rise from a tenth to the whole when the route has much to send; they fall "
                    + "as fast while less than half of the rate is used; without it, 60s to FCM, as Google asks, and "
                    + "none to others"),
            ConfigKey(
                "newest-wins", .flag, default: "false",
                "whether a notification that waits is dropped when a newer one with the same recipient, topic and "
                    + "collapse id was accepted; without a collapse id, all go"),
            ConfigKey(
                "confirm", .choice(Confirmation.allCases.map(\.rawValue)),
                "binary protocol: what confirms where no error comes. `barrier` is proof, and holds without it; `quiet` is "
                    + "silence, a guess"),
            ConfigKey(
                "quiet-period", .duration(.milliseconds(1)...(.seconds(3600))),
                "with `confirm: quiet`, how long silence lasts; without it, 5s"),
            ConfigKey(
                "feedback.endpoint", .feedbackEndpoint, need: .withGroup,
                "a feedback service, read with the route's certificate; the tokens it names are blacklisted"),
            ConfigKey(
                "feedback.interval", .duration(.seconds(1)...(.seconds(30 * 24 * 3600))), default: "1h",
                "from one reading to the next"),
        ], check: check)

    private static let check: @Sendable ([ConfigValues], inout [ConfigProblem]) -> Void = { items, problems in
        for (index, values) in items.enumerated() {
            checkAlone(values, &problems)
            checkTwins(values, items[..<index], &problems)
            RouteEnvironments.check(values, among: items, &problems)
        }
    }

    private static func checkAlone(_ values: ConfigValues, _ problems: inout [ConfigProblem]) {
        if let name = values.text("name"), name.hasPrefix("-") {
            problems.append(
                values.problem(
                    "name",
                    "\(name.debugDescription) begins with \"-\", so commands such as `holdfast lanes pause` would take it for an option"
                ))
        }
        guard !FirebaseSettings.areMeant(values) else { return FirebaseSettings.check(values, &problems) }
        if !values.isUnknown("service") { FirebaseSettings.checkOthers(values, &problems) }
        checkCredentials(values, &problems)
        checkProtocol(values, &problems)
    }

    private static func checkCredentials(_ values: ConfigValues, _ problems: inout [ConfigProblem]) {
        if values.isGroupGiven("signing-key"), values.isGroupGiven("certificate") {
            problems.append(
                values.problem("certificate.file", "contradicts signing-key: a route has the one or the other"))
        }
        if let file = values.text("certificate.file"), isPKCS12(file), values.isGiven("certificate.key") {
            problems.append(values.problem("certificate.key", "is for PEM files: a .p12 file holds its key"))
        }
        for (one, other) in [
            ("signing-key.pem", "signing-key.file"), ("certificate.pem", "certificate.file"),
            ("certificate.pem", "certificate.key"), ("certificate.passphrase", "certificate.passphrase-file"),
        ] where values.isGiven(one) && values.isGiven(other) {
            problems.append(values.problem(one, "contradicts \(other): the one or the other"))
        }
    }

    private static func checkProtocol(_ values: ConfigValues, _ problems: inout [ConfigProblem]) {
        if values.isGiven("quiet-period"), !values.isUnknown("confirm"),
            values.text("confirm") != Confirmation.quiet.rawValue
        {
            problems.append(values.problem("quiet-period", "is for `confirm: quiet`: a barrier waits for its answer"))
        }
        guard let endpoint = values.text("endpoint") else { return }
        if isBinary(endpoint) {
            for key in NetworkSettings.keys.map(\.name) + ["channels-endpoint"] where values.isGiven(key) {
                problems.append(values.problem(key, "is for HTTP/2, and \(endpoint) speaks the binary protocol"))
            }
            for key in ["signing-key.file", "signing-key.pem", "signing-key.key-id", "signing-key.team-id"]
            where values.isGiven(key) {
                problems.append(
                    values.problem(
                        key,
                        "is for HTTP/2, and \(endpoint) speaks the binary protocol: it knows a sender by certificate"))
            }
        } else {
            for key in ["confirm", "quiet-period"] where values.isGiven(key) {
                problems.append(
                    values.problem(
                        key,
                        "is for the binary protocol, and \(endpoint) speaks HTTP/2, which answers each notification"))
            }
        }
    }

    /// Checks the settings that two routes must not have in common.
    private static func checkTwins(
        _ values: ConfigValues, _ others: ArraySlice<ConfigValues>, _ problems: inout [ConfigProblem]
    ) {
        for other in others {
            if let name = values.text("name"), name == other.text("name") {
                problems.append(
                    values.problem(
                        "name",
                        "\(name.debugDescription) is also the name of \(other.path): each route has one of its own"))
            }
            if let project = values.text("project"), project == other.text("project") {
                problems.append(
                    values.problem(
                        "project",
                        "\(project.debugDescription) is also the project of \(other.path): one route serves it"))
            }
            guard !FirebaseSettings.areMeant(values), !FirebaseSettings.areMeant(other),
                RouteEnvironments.collide(values, other)
            else { continue }
            if let topics = values.texts("topics"), let taken = other.texts("topics") {
                for topic in topics where taken.contains(topic) {
                    problems.append(
                        values.problem(
                            "topics",
                            "\(topic.debugDescription) is also a topic of \(other.path): one route serves it, or "
                                + RouteEnvironments.twoRoutes))
                }
            }
            if !values.isGiven("topics"), !other.isGiven("topics") {
                problems.append(
                    values.problem(
                        "topics",
                        "is missing, as in \(other.path): one route alone may serve all other topics, or "
                            + RouteEnvironments.twoRoutes))
            }
        }
    }

    /// - Precondition: the values are without a mistake.
    package init(_ values: ConfigValues) {
        if FirebaseSettings.areMeant(values) {
            self.init(firebase: FirebaseSettings(values), endpoint: values.text("endpoint"))
        } else {
            self.init(endpoint: values.text("endpoint") ?? "")
            topics = values.texts("topics").map(Set.init)
        }
        name = values.text("name") ?? Self.standardName
        channelsEndpoint = values.text("channels-endpoint")
        statedEnvironment = values.text("environment").flatMap(PushEnvironment.init)
        triesOtherEnvironment = values.text("other-environment") == "try"
        trust = values.text("trust")
        network = NetworkSettings(values)
        if values.isGroupGiven("signing-key") {
            signingKey = SigningKey(
                file: values.text("signing-key.file"), pem: values.text("signing-key.pem"),
                keyID: values.text("signing-key.key-id") ?? "",
                teamID: values.text("signing-key.team-id") ?? "")
        }
        if values.isGroupGiven("certificate") {
            certificate = Certificate(
                file: values.text("certificate.file"), pem: values.text("certificate.pem"),
                key: values.text("certificate.key"), passphrase: values.text("certificate.passphrase"),
                passphraseFile: values.text("certificate.passphrase-file"))
        }
        if let interval = values.duration("reload-every") { reloadEvery = interval }
        connections = values.count("connections")
        scaling = ConnectionScaling(values)
        if let perSecond = values.share("rate.per-second") {
            rate = RateLimit(
                perSecond: perSecond, burst: values.count("rate.burst"),
                rampUp: values.duration("rate.ramp-up") ?? standardRate?.rampUp)
        }
        newestWins = values.flag("newest-wins") ?? false
        confirmation = values.text("confirm").flatMap(Confirmation.init) ?? .barrier
        quietPeriod = values.duration("quiet-period")
        if let endpoint = values.text("feedback.endpoint") {
            feedback = FeedbackSettings(endpoint: endpoint, interval: values.duration("feedback.interval"))
        }
    }
}

extension ConnectionScaling {
    fileprivate init(_ values: ConfigValues) {
        self.init()
        minimum = values.count("scale.minimum") ?? minimum
        growAbove = values.count("scale.grow-above") ?? growAbove
        growAfter = values.duration("scale.grow-after") ?? growAfter
        shrinkBelow = values.count("scale.shrink-below") ?? shrinkBelow
        shrinkAfter = values.duration("scale.shrink-after") ?? shrinkAfter
    }
}

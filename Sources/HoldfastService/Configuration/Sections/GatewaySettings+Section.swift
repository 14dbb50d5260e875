internal import Holdfast
package import HoldfastGateway
internal import HoldfastTransport

/// `gateway:` — where existing senders are served.
extension GatewaySettings {
    private static let long: Duration = .seconds(24 * 3600)
    private static let short: Duration = .milliseconds(1)

    package static let section = ConfigSection(
        name: "gateway",
        meaning:
            "what `serve` listens on for senders; a listener is there when its `listen` is. Without a certificate it "
            + "speaks in the clear, which only this machine's own addresses may. What others reach takes those alone who show "
            + "a client certificate or, over HTTP/2, a provider token of the route's own key",
        keys: listenerKeys("http2", "HTTP/2 as Apple's and Google's, h2 by ALPN, and HTTP/1.1") + [
            ConfigKey(
                "http2.credentials", .choice(["elsewhere", "everybody"]), default: "elsewhere",
                "who has to show a client certificate, a provider token or an access token: clients from elsewhere than this "
                    + "machine, or everybody"),
            ConfigKey(
                "http2.service-accounts", .file,
                "the register of the service accounts that may send to Firebase Cloud Messaging, each to its projects; "
                    + "`holdfast gateway account issue` makes it. Looked at every 10 s"),
            ConfigKey(
                "http2.streams", .count(1...100_000), default: "1000", "requests at a time on a connection at most"),
            ConfigKey(
                "http2.answer.wait", .duration(short...(.seconds(60))), need: .withGroup,
                "how long a request waits, once its notification is on disk, for the push service's own answer, which it is "
                    + "then told; without it, the answer is 200 at once. The header `holdfast-answer` says otherwise for one "
                    + "request"),
            ConfigKey(
                "http2.answer.waiting", .count(1...10_000_000), default: "100000",
                "requests that wait so at a time at most, over all connections; further ones are answered at once"),
            ConfigKey(
                "http2.memory", .size(1 << 20...1 << 40), default: "256M",
                "bytes of requests that have begun and not ended, over all connections; beyond them the connections with more "
                    + "than their share are closed"),
            ConfigKey(
                "http2.hosts.production", .texts("host names", 1...253, most: 100),
                "names of this listener; what clients send to one of them is for the production environment. Apple's own "
                    + "names need not be here"),
            ConfigKey(
                "http2.hosts.sandbox", .texts("host names", 1...253, most: 100), "the same for the sandbox environment"),
            ConfigKey(
                "http2.rate.per-second", .share(0.001...10_000_000), need: .withGroup,
                "notifications a second over all connections, beyond which the answer is 429; without it, any number"),
            ConfigKey(
                "http2.rate.burst", .count(1...10_000_000),
                "how many may come at once after a pause; without it, those of a second"),
        ] + listenerKeys("binary", "the binary protocol, commands 0, 1 and 2") + [
            ConfigKey(
                "binary.topic", .topic,
                "what its notifications are for; without it, what each client's certificate is for"),
            ConfigKey(
                "binary.environment", .choice(PushEnvironment.allCases.map(\.rawValue)),
                "the environment that they are for; without it, the default where routes share the topic"),
            ConfigKey(
                "binary.hosts.production", .texts("host names", 1...253, most: 100),
                "names of this listener; what comes from clients that ask TLS for one of them (SNI) is for the production "
                    + "environment, whatever `binary.environment` is"),
            ConfigKey(
                "binary.hosts.sandbox", .texts("host names", 1...253, most: 100), "the same for the sandbox environment"
            ),
            ConfigKey(
                "binary.uncommitted", .count(1...1_000_000), default: "1000",
                "notifications of a connection that were read and are not on disk yet, at most: what their sender takes "
                    + "for sent, and a kill -9 loses"),
            ConfigKey(
                "binary.room-limit", .duration(.zero...(.seconds(3600))), default: "30s",
                "how long a full journal may keep a sender waiting until it is told which of its notifications is the last "
                    + "one on disk, and its connection is closed"),
            ConfigKey(
                "binary.errors", .flag, default: "false",
                "whether a sender gets an error about a notification that the push service has rejected while its connection "
                    + "lasts; what it then sends again is recognised"),
            ConfigKey(
                "binary.errors-wait", .duration(.zero...(.seconds(600))), default: "10s",
                "how long such an error, or the end of a connection whose sender has closed its side, waits for what becomes "
                    + "of earlier notifications"),
            ConfigKey(
                "binary.errors-time", .duration(.seconds(1)...(.seconds(3600))), default: "2m",
                "how long after an error what its sender sends again is recognised"),
            ConfigKey(
                "binary.errors-limit", .count(1...10_000_000), default: "100000",
                "notifications at a time, over all connections, of which an error may be said or which are recognised"),
            ConfigKey(
                "binary.rate.per-second", .share(0.001...10_000_000), need: .withGroup,
                "notifications a second over all connections, beyond which nothing is read for a while"),
            ConfigKey(
                "binary.rate.burst", .count(1...10_000_000),
                "how many may come at once after a pause; without it, those of a second"),
        ] + listenerKeys("feedback", "the feedback service") + [
            ConfigKey(
                "feedback.topic", .topic,
                "whose blacklisted tokens it tells; without it, those of what each client's certificate is for"),
            ConfigKey(
                "unstored-lifetime", .duration(.zero...long), default: "1h",
                "how long a notification is tried that is not to be stored (expiration 0); 0s is one attempt"),
            ConfigKey(
                "handshake-limit", .duration(short...(.seconds(3600))), default: "10s",
                "how long a connection may take until it speaks its protocol"),
            ConfigKey(
                "first-request-limit", .duration(short...(.seconds(3600))), default: "1m",
                "how long an HTTP/2 connection may take until a request of it is let in, where clients have to show "
                    + "credentials, and it has shown no certificate"),
            ConfigKey(
                "idle-limit", .duration(.seconds(1)...(.seconds(30 * 24 * 3600))), default: "1h",
                "how long a connection may say nothing while nothing is owed to it"),
            ConfigKey(
                "write-limit", .duration(short...(.seconds(3600))), default: "30s",
                "how long a connection may take to read what it is owed"),
            ConfigKey(
                "drain-limit", .duration(.zero...long), default: "10s",
                "how long an orderly end answers what is in hand; then connections are closed"),
        ],
        check: { items, problems in for values in items { check(values, &problems) } })

    private static func listenerKeys(_ name: String, _ what: String) -> [ConfigKey] {
        [
            ConfigKey("\(name).listen", .listen, need: .withGroup, "\(what): where it listens; port 0 is any free one"),
            ConfigKey(
                "\(name).certificate", .file,
                "what it shows its clients, with those that lead to its authority: PEM, or `.p12`"),
            ConfigKey("\(name).key", .file, "its key, PEM; without it, the key is in the same file"),
            ConfigKey(
                "\(name).passphrase-file", .file, "the first line of this file is the passphrase of the key or `.p12`"),
            ConfigKey(
                "\(name).clients", .file,
                "PEM with the authorities whose certificates clients show"
                    + (name == "http2" ? "; who shows none needs a provider token" : ", which they then must")),
            ConfigKey(
                "\(name).clients-revoked", .file,
                "the revocation lists of these authorities, PEM or one in DER: each needs one that is not out of date. "
                    + "Looked at every 10 s; connections of who was revoked are ended"),
            ConfigKey("\(name).connections", .count(1...100_000), default: "1000", "connections at a time at most"),
            ConfigKey(
                "\(name).connections-per-address", .count(1...100_000),
                "of them, from one IPv4 address or one IPv6 network of 64 bits; without it, half of them where clients have "
                    + "to show credentials, and else all"),
        ]
    }

    private static func check(_ values: ConfigValues, _ problems: inout [ConfigProblem]) {
        for listener in ["http2", "binary"] { checkHosts(listener, values, &problems) }
        for name in names {
            if values.isGiven("\(name).clients-revoked"), !values.isGiven("\(name).clients") {
                problems.append(
                    values.problem(
                        "\(name).clients-revoked", "needs \(name).clients: without it no certificate is asked for"))
            }
            for key in ["key", "passphrase-file", "clients"]
            where values.isGiven("\(name).\(key)") && !values.isGiven("\(name).certificate") {
                problems.append(
                    values.problem("\(name).\(key)", "needs \(name).certificate: without it there is no TLS"))
            }
            if let file = values.text("\(name).certificate"), RouteSettings.isPKCS12(file),
                values.isGiven("\(name).key")
            {
                problems.append(values.problem("\(name).key", "is for PEM files: a .p12 file holds its key"))
            }
            checkAddress(values, name, &problems)
            guard name != "http2", values.text("\(name).listen") != nil, !values.isGiven("\(name).topic"),
                !values.isGiven("\(name).clients")
            else { continue }
            problems.append(
                values.problem(
                    "\(name).listen", "needs \(name).topic, or \(name).clients with whose certificates say it"))
        }
    }

    private static func checkHosts(
        _ listener: String, _ values: ConfigValues, _ problems: inout [ConfigProblem]
    ) {
        var known: [String] = []
        for key in ["\(listener).hosts.production", "\(listener).hosts.sandbox"] {
            for name in values.texts(key) ?? [] {
                let plain = HTTP2IngressConfiguration.hostName(of: name)
                if plain != name.lowercased() || !isHost(plain) {
                    problems.append(
                        values.problem(
                            key,
                            "\(name.debugDescription) is no host name or address: give one as push.example.com, 192.0.2.1 or "
                                + "[2001:db8::1], without a port"))
                } else if known.contains(plain) {
                    problems.append(
                        values.problem(key, "\(name.debugDescription) is there twice: a name is for one environment"))
                }
                known.append(plain)
            }
        }
    }

    /// A name of DNS, an IPv4 address, or an IPv6 address in brackets, as a client names it.
    private static func isHost(_ name: String) -> Bool {
        if name.hasPrefix("["), name.hasSuffix("]") {
            return name.contains(":") && HostAndPort.isAddress(String(name.dropFirst().dropLast()))
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return HostAndPort.isName(name) && labels.allSatisfy { (1...63).contains($0.utf8.count) }
    }

    private static func checkAddress(_ values: ConfigValues, _ name: String, _ problems: inout [ConfigProblem]) {
        guard let text = values.text("\(name).listen"), let address = address(text) else { return }
        for other in names.prefix(while: { $0 != name })
        where address.port != 0 && values.text("\(other).listen").flatMap({ Self.address($0) }) == address {
            problems.append(
                values.problem("\(name).listen", "is also where \(other) listens: each has a port of its own"))
        }
        guard !address.isLoopback else { return }
        if !values.isGiven("\(name).certificate") {
            problems.append(
                values.problem(
                    "\(name).listen",
                    "is reached from elsewhere, and needs TLS: give \(name).certificate, or listen on 127.0.0.1"))
        } else if name != "http2", !values.isGiven("\(name).clients") {
            problems.append(
                values.problem(
                    "\(name).listen",
                    "is reached from elsewhere: give \(name).clients, whose certificates are served, or listen on 127.0.0.1"
                ))
        }
    }

    /// `nil` for a text that is no address; the check of its type tells of that.
    package static func address(_ text: String) -> ListenAddress? {
        do throws(GatewayError) { return try ListenAddress(text) } catch { return nil }
    }
}

extension ConfigType {
    /// Where to listen.
    package static let listen = ConfigType(allowed: "`HOST:PORT` or `[ADDRESS]:PORT`") { text, _ throws(Fault) in
        do throws(GatewayError) {
            _ = try ListenAddress(text)
        } catch {
            throw Fault(message: error.message)
        }
        return .text(text)
    }
}

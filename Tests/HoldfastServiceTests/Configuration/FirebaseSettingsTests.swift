import Foundation
import Holdfast
import HoldfastFCM
import Scratch
import Testing

@testable import HoldfastService

@Suite("A route to Firebase Cloud Messaging")
struct FirebaseSettingsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("account.json", "{}")
        try folder.write("AuthKey.p8", "x")
    }

    private func load(_ routes: String) throws(ConfigError) -> HoldfastConfiguration {
        try HoldfastConfiguration(yaml: "routes:\n\(routes)", relativeTo: folder.path)
    }

    private func lines(_ routes: String) -> [String] {
        do throws(ConfigError) {
            _ = try load(routes)
            return []
        } catch {
            return error.lines
        }
    }

    @Test("Little is enough, and the rest is as the connector has it by itself") func defaults() throws {
        let route = try load("  - {service: fcm, project: my-app, service-account: account.json}").routes[0]
        #expect(route.service == .fcm && route.protocol == .fcm && route.topics == ["my-app"])
        #expect(route.endpoint == "https://fcm.googleapis.com:443" && route.environment == nil)
        #expect(route.firebase?.serviceAccount == folder("account.json") && route.firebase?.idKey == nil)
        #expect(route.connectionLimit == 10 && route.rateLimit == FCMConnector.routeRate)
        #expect(route.network.streams == 100 && route.network.idleClose == .seconds(600))
        let production = try load(
            "  - {service: fcm, project: my-app, service-account: account.json, endpoint: production}")
        #expect(production.routes[0] == route)
    }

    @Test("Each key means what it says") func keys() throws {
        let route = try load(
            """
              - service: fcm
                project: my-app
                token-command: [printf, the-token]
                endpoint: https://fcm.example.com
                address: [192.0.2.7, "2001:db8::7"]
                validate-only: true
                id-key: my-id
                connections: 3
                rate: {per-second: 7}
                streams: 50
                send-deadline: 9s
                idle-close: 0s
            """
        ).routes[0]
        var expected = FirebaseSettings(project: "my-app")
        (expected.tokenCommand, expected.addresses) = (["printf", "the-token"], ["192.0.2.7", "2001:db8::7"])
        (expected.validatesOnly, expected.idKey) = (true, "my-id")
        #expect(route.firebase == expected)
        #expect(route.connectionLimit == 3 && route.rateLimit == RateLimit(perSecond: 7, rampUp: .seconds(60)))
        let configuration = try route.firebaseConfiguration()
        #expect(configuration.addresses == expected.addresses && configuration.validatesOnly)
        #expect(configuration.sendDeadline == .seconds(9) && configuration.idleClose == nil)
        #expect(configuration.maximumStreams == 50 && configuration.idKey == "my-id")
        #expect(configuration.project == "my-app")
        #expect(configuration.endpoint.description == "https://fcm.example.com:443")
        let engines = try route.route()
        #expect(engines.connections == 3 && engines.topics == ["my-app"])
        #expect(engines.connector.limits.service?.kinds.count == 4)
    }

    @Test(
        "Keys of the other service, and what is missing, are mistakes with their place",
        arguments: [
            ("service: fcm, project: my-app", "routes[0].service-account: is missing"),
            ("service: fcm, service-account: account.json", "routes[0].project: is missing"),
            ("service: fcm, project: My_App, service-account: account.json", "is no project id"),
            (
                "service: fcm, project: my-app, service-account: account.json, token-command: [a]",
                "contradicts service-account"
            ),
            (
                "service: fcm, project: my-app, token-command: [a], topics: [x]",
                "routes[0].topics: is for `service: apns`: a route to FCM serves its `project`"
            ),
            ("service: fcm, project: my-app, token-command: [a], environment: sandbox", "is for `service: apns`"),
            ("service: fcm, project: my-app, token-command: [a], newest-wins: true", "is for `service: apns`"),
            ("service: fcm, project: my-app, token-command: [a], verify-host-name: false", "is for `service: apns`"),
            (
                "service: fcm, project: my-app, token-command: [a], certificate: {file: AuthKey.p8}",
                "routes[0].certificate.file: is for `service: apns`"
            ),
            (
                "service: fcm, project: my-app, token-command: [a], endpoint: sandbox",
                "routes[0].endpoint: the endpoint"
            ),
            ("service: gcm, endpoint: sandbox", "takes `apns` or `fcm`"),
            ("endpoint: sandbox, project: my-app", "routes[0].project: is for `service: fcm`"),
            ("endpoint: sandbox, id-key: x", "routes[0].id-key: is for `service: fcm`"),
            ("endpoint: sandbox, service-account: account.json", "routes[0].service-account: is for `service: fcm`"),
            ("topics: [x]", "routes[0].endpoint: is missing"),
        ])
    func mistakes(route: String, words: String) {
        let lines = lines("  - {\(route)}")
        #expect(lines.count == 1 && lines.first?.contains(words) == true, "\(lines)")
    }

    @Test("One project has one route, and a route of Apple's beside it keeps its rules") func twins() throws {
        let one = "  - {name: a, service: fcm, project: my-app, token-command: [a]}\n"
        #expect(
            lines(one + "  - {name: b, service: fcm, project: my-app, token-command: [a]}").first?.contains(
                "routes[1].project: \"my-app\" is also the project of routes[0]") == true)
        let both = try load(one + "  - {name: b, endpoint: sandbox}\n  - {name: c, endpoint: production}\n")
        #expect(both.routes.map(\.service) == [.fcm, .apns, .apns])
        #expect(
            lines(one + "  - {name: b, endpoint: sandbox, other-environment: try}").contains {
                $0.contains("tries nothing")
            })
    }

    @Test("What is wrong with a file, an address or a key is told of its own key") func unusable() throws {
        func problems(_ route: String) throws -> [String] {
            let configuration = try load("  - {service: fcm, project: my-app, \(route)}")
            return configuration.unusable().map(\.description)
        }
        #expect(try problems("token-command: [a]") == [])
        for (route, words) in [
            ("service-account: account.json", "routes[0].service-account: the service account"),
            ("token-command: [a], address: [example.com]", "routes[0].address: the address"),
            ("token-command: [a], address: [192.0.2.7], endpoint: \"https://192.0.2.8\"", "is an address itself"),
            (
                "token-command: [a], address: [192.0.2.7], proxy: \"http://proxy.example:3128\"",
                "routes[0].address: the proxy"
            ),
            ("token-command: [a], id-key: google.x", "routes[0].id-key: the id key"),
            ("token-command: [a], trust: AuthKey.p8", "routes[0].trust: "),
        ] {
            let found = try problems(route)
            #expect(found.count == 1 && found.first?.contains(words) == true, "\(route): \(found)")
        }
    }

    @Test("A file of a service account that all may read is warned of") func rights() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder("account.json"))
        let configuration = try load("  - {service: fcm, project: my-app, service-account: account.json}")
        #expect(configuration.openedSecrets.contains { $0.contains("account.json") })
    }
}

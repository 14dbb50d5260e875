// swift-tools-version: 6.2
// Holdfast: push notifications that survive.
//
// The rooms, and which way the arrows run, are described in Docs/Internals/Architecture.md.
// Scripts/check-arrows fails when an import breaks them.

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
// What a tunnel through an HTTP proxy takes.
let nioExtras: Target.Dependency = .product(name: "NIOExtras", package: "swift-nio-extras")
// Judges header blocks in tests.
let nioHPACK: Target.Dependency = .product(name: "NIOHPACK", package: "swift-nio-http2")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let inMemoryTracing: Target.Dependency = .product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
// The values that Hummingbird and its NIO handlers speak in.
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")

// Scripts/package says them. Only one file of C takes them, so that a commit does not build everything anew.
let buildFacts: [CSetting] = ["HOLDFAST_COMMIT", "HOLDFAST_SWIFT"].compactMap { name in
    Context.environment[name].map { .define(name, to: "\"\($0)\"") }
}

let package = Package(
    name: "holdfast",
    // Keys of the journal are an InlineArray, which came with macOS 26. Linux: glibc or musl.
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "Holdfast", targets: ["Holdfast"]),
        .library(name: "HoldfastJournal", targets: ["HoldfastJournal"]),
        .library(name: "HoldfastControl", targets: ["HoldfastControl"]),
        .library(name: "HoldfastPayload", targets: ["HoldfastPayload"]),
        .library(name: "HoldfastAPNsAnswers", targets: ["HoldfastAPNsAnswers"]),
        .library(name: "HoldfastAPNs", targets: ["HoldfastAPNs"]),
        .library(name: "HoldfastFCM", targets: ["HoldfastFCM"]),
        .library(name: "HoldfastChannels", targets: ["HoldfastChannels"]),
        .library(name: "HoldfastLegacyAPNs", targets: ["HoldfastLegacyAPNs"]),
        .library(name: "HoldfastGateway", targets: ["HoldfastGateway"]),
        .library(name: "HoldfastService", targets: ["HoldfastService"]),
        .library(name: "HoldfastMocking", targets: ["HoldfastMocking"]),
        .library(name: "HoldfastMockAPNs", targets: ["HoldfastMockAPNs"]),
        .library(name: "HoldfastMockFCM", targets: ["HoldfastMockFCM"]),
        .library(name: "HoldfastTesting", targets: ["HoldfastTesting"]),
        .executable(name: "holdfast", targets: ["HoldfastTool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        // Only tests take it, beside which an application's own configuration is read.
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        // Serves operators: health and metrics, and the control socket. Without its traits it brings no configuration and no Foundation.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // The C library under one name, and the calls in which the systems differ.
        .systemLibrary(name: "CHoldfastPlatform"),
        .target(name: "HoldfastPlatform", dependencies: ["CHoldfastPlatform"], swiftSettings: strict),

        // Persistence; nothing here knows the network.
        .systemLibrary(
            name: "CHoldfastLMDB", path: "Journal/CHoldfastLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(
            name: "HoldfastLMDB", dependencies: ["CHoldfastLMDB", "HoldfastPlatform"], path: "Journal/HoldfastLMDB",
            swiftSettings: strict),
        .target(
            name: "HoldfastJournal", dependencies: ["Holdfast", "HoldfastLMDB", "HoldfastOpenSSL", "HoldfastPlatform"],
            path: "Journal/HoldfastJournal",
            swiftSettings: strict),

        // The engine and its contracts.
        .target(
            name: "Holdfast", dependencies: ["HoldfastPlatform", serviceLifecycle, logging, coreMetrics, tracing],
            swiftSettings: strict),

        // The meaning of APNs' answers: a table without a network, for senders of one's own as well.
        .target(name: "HoldfastAPNsAnswers", dependencies: ["Holdfast"], swiftSettings: strict),

        // Builds payloads.
        .target(name: "HoldfastPayload", dependencies: ["Holdfast"], swiftSettings: strict),

        // Operators reach a running engine through a socket.
        .target(
            name: "HoldfastControl",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastAPNsAnswers", "HoldfastTransport", httpTypes, hummingbirdCore,
                logging, nioCore,
                nioHTTP1, nioHTTPTypes,
                nioPosix, serviceLifecycle,
            ],
            swiftSettings: strict),

        // The doors to the network and to libcrypto.
        .systemLibrary(
            name: "CHoldfastOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(
            name: "HoldfastOpenSSL", dependencies: ["CHoldfastOpenSSL", "HoldfastPlatform"], swiftSettings: strict),
        // The door to PostgreSQL, by its own client library.
        .systemLibrary(
            name: "CHoldfastPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(name: "HoldfastPQ", dependencies: ["CHoldfastPQ", "HoldfastPlatform"], swiftSettings: strict),
        // What many machines share in a database: who owns which journal, and what its commits changed.
        .target(
            name: "HoldfastPostgres",
            dependencies: ["Holdfast", "HoldfastJournal", "HoldfastLMDB", "HoldfastPQ", "HoldfastPlatform"],
            path: "Journal/HoldfastPostgres", swiftSettings: strict),
        .target(name: "HoldfastHTTP2", dependencies: [nioCore], swiftSettings: strict),
        .target(
            name: "HoldfastTransport",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastOpenSSL", nioCore, nioPosix, nioSSL, nioTLS, nioHTTP1,
                nioExtras,
            ],
            swiftSettings: strict),
        // A connection to a service that is sent requests over HTTP/2, whichever service it is.
        .target(
            name: "HoldfastRequests",
            dependencies: [
                "Holdfast", "HoldfastHTTP2", "HoldfastOpenSSL", "HoldfastTransport", nioCore, nioHTTP1, nioSSL, nioTLS,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastAPNs",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastHTTP2", "HoldfastOpenSSL", "HoldfastRequests",
                "HoldfastTransport", nioCore,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastFCM",
            dependencies: [
                "Holdfast", "HoldfastHTTP2", "HoldfastOpenSSL", "HoldfastPlatform", "HoldfastRequests",
                "HoldfastTransport", nioCore,
            ],
            swiftSettings: strict),
        // Manages broadcast channels. Over the session and the way that sending has: what could not be known through another
        // HTTP client is whether a request that failed may have been done, and proxies and names would be others than there.
        .target(
            name: "HoldfastChannels",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastAPNs", "HoldfastHTTP2", "HoldfastRequests",
                "HoldfastTransport", nioCore,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastLegacyAPNs",
            dependencies: ["Holdfast", "HoldfastAPNsAnswers", "HoldfastTransport", nioCore, nioPosix, nioSSL, nioTLS],
            swiftSettings: strict),

        // Tells senders how their notifications ended. Over the dialling and TLS that sending has: another HTTP client would
        // judge certificates in its own way, and could not say whether a request that failed may have arrived.
        .target(
            name: "HoldfastWebhooks",
            dependencies: [
                "Holdfast", "HoldfastOpenSSL", "HoldfastRequests", "HoldfastTransport", logging,
            ],
            swiftSettings: strict),

        // What senders that exist already talk to.
        .target(
            name: "HoldfastGateway",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastAPNsAnswers", "HoldfastFCM", "HoldfastHTTP2",
                "HoldfastLegacyAPNs", "HoldfastOpenSSL",
                "HoldfastTransport", coreMetrics,
                httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1, nioHTTPTypes, nioPosix, nioSSL,
                nioTLS,
                serviceLifecycle, tracing,
            ],
            swiftSettings: strict),

        // The files of the operators' page: in the program, so that it stays one file.
        .target(name: "HoldfastPage", resources: [.embedInCode("Assets")], swiftSettings: strict),

        // What `holdfast serve` is, for services that embed it.
        .target(
            name: "HoldfastService",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastAPNs", "HoldfastControl", "HoldfastFCM", "HoldfastGateway",
                "HoldfastJournal",
                "HoldfastLegacyAPNs", "HoldfastPage", "HoldfastPQ", "HoldfastPostgres", "HoldfastRequests",
                "HoldfastTransport", "HoldfastWebhooks", coreMetrics, logging, serviceLifecycle, tracing, yams,
            ],
            swiftSettings: strict),

        // What tests are made of, ours and our users'.
        // What mocks of push services share: listeners, TLS, scripts, ledgers, and HTTP/2 from the service's side.
        .target(
            name: "HoldfastMocking",
            dependencies: ["HoldfastPlatform", "HoldfastHTTP2", "HoldfastOpenSSL", nioCore, nioPosix, nioSSL, nioTLS],
            swiftSettings: strict),
        .target(
            name: "HoldfastMockAPNs",
            dependencies: [
                "HoldfastPlatform", "HoldfastHTTP2", "HoldfastMocking", "HoldfastOpenSSL", nioCore, nioTLS,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastMockFCM",
            dependencies: ["HoldfastHTTP2", "HoldfastMocking", "HoldfastOpenSSL", nioCore, nioHTTP1],
            swiftSettings: strict),
        .target(
            name: "HoldfastTesting", dependencies: ["Holdfast", "HoldfastAPNsAnswers", logging], swiftSettings: strict),

        // Runs simulations: Scripts/simulate.
        .executableTarget(
            name: "HoldfastSimulator", dependencies: ["Holdfast", "HoldfastJournal", "HoldfastTesting"],
            path: "Tests/Simulator",
            swiftSettings: strict),

        // The commit and the Swift of a build, for `holdfast --version`.
        .target(name: "CHoldfastBuild", cSettings: buildFacts),

        // The command `holdfast`, which puts the parts together.
        .executableTarget(
            name: "HoldfastTool",
            dependencies: [
                "CHoldfastBuild", "HoldfastPlatform", "Holdfast", "HoldfastAPNsAnswers", "HoldfastJournal",
                "HoldfastControl",
                "HoldfastAPNs",
                "HoldfastChannels", "HoldfastFCM",
                "HoldfastLegacyAPNs", "HoldfastGateway", "HoldfastMockAPNs", "HoldfastMockFCM", "HoldfastMocking",
                "HoldfastOpenSSL", "HoldfastPQ",
                "HoldfastPayload", "HoldfastPostgres",
                "HoldfastService", argumentParser, logging, nioCore, nioPosix, serviceLifecycle, unixSignals,
            ],
            swiftSettings: strict),

        // Measures, beside yardsticks: Scripts/bench. Not a product, so that nobody installs it.
        .executableTarget(
            name: "holdfast-bench",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastJournal", "HoldfastAPNs", "HoldfastFCM", "HoldfastGateway",
                "HoldfastLegacyAPNs", "HoldfastPQ", "HoldfastPostgres", "Trials",
                argumentParser, logging, nioCore,
            ],
            path: "Sources/HoldfastBench", swiftSettings: strict),

        .testTarget(
            name: "HoldfastTests",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastTesting", coreMetrics, inMemoryTracing, logging,
                serviceLifecycle, tracing,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastControlTests",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastAPNsAnswers", "HoldfastControl", "HoldfastJournal",
                "HoldfastTesting", logging,
                nioCore, nioPosix,
                serviceLifecycle, unixSignals,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastPayloadTests", dependencies: ["Holdfast", "HoldfastPayload", "HoldfastTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastLMDBTests", dependencies: ["HoldfastLMDB", "TestCopies"], swiftSettings: strict),
        .testTarget(
            name: "HoldfastJournalTests",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastAPNsAnswers", "HoldfastJournal", "HoldfastLMDB",
                "HoldfastTesting", "TestCopies",
            ],
            swiftSettings: strict),
        // Compares a working copy with what it is a copy of.
        .target(
            name: "TestCopies", dependencies: ["HoldfastLMDB"], path: "Tests/TestCopies", swiftSettings: strict),
        .testTarget(name: "HoldfastOpenSSLTests", dependencies: ["HoldfastOpenSSL"], swiftSettings: strict),
        // PostgreSQL servers of the tests' own, and what comes between them and their clients.
        .target(
            name: "TestPostgres", dependencies: ["HoldfastPlatform"], path: "Tests/TestPostgres",
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastPQTests", dependencies: ["HoldfastOpenSSL", "HoldfastPQ", "TestPostgres"],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastPostgresTests",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastControl", "HoldfastFCM", "HoldfastJournal", "HoldfastLMDB",
                "HoldfastMockFCM", "HoldfastPlatform", "HoldfastPostgres", "HoldfastPQ", "HoldfastRequests",
                "HoldfastService", "HoldfastTesting", "Scratch", "TestCopies", "TestPostgres", logging,
            ],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "HoldfastHTTP2Tests", dependencies: ["HoldfastHTTP2", "Trials", nioHPACK, nioCore],
            swiftSettings: strict),
        // A connection's machine between a test's hands and a service that the test plays.
        .target(
            name: "SessionRig", dependencies: ["Holdfast", "HoldfastHTTP2", "HoldfastRequests", nioCore],
            path: "Tests/SessionRig", swiftSettings: strict),
        .testTarget(
            name: "HoldfastRequestsTests",
            dependencies: [
                "Holdfast", "HoldfastHTTP2", "HoldfastPlatform", "HoldfastRequests", "HoldfastTesting",
                "HoldfastTransport", "HostileHTTP2",
                "SessionRig", "Trials", nioCore, nioPosix,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastAPNsTests",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastAPNs", "HoldfastHTTP2", "HoldfastMockAPNs",
                "HoldfastMocking",
                "HoldfastOpenSSL", "HoldfastRequests",
                "HoldfastTesting", "HoldfastTransport", "SessionRig", "RawClients", logging, nioCore, nioPosix, nioSSL,
                nioHPACK,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastFCMTests",
            dependencies: [
                "Holdfast", "HoldfastFCM", "HoldfastMockFCM", "HoldfastMocking", "HoldfastOpenSSL",
                "HoldfastRequests", "HoldfastTesting", "SessionRig", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastMockFCMTests",
            dependencies: ["HoldfastHTTP2", "HoldfastMockFCM", "HoldfastMocking", "HoldfastOpenSSL", "RawClients"],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastChannelsTests",
            dependencies: [
                "Holdfast", "HoldfastAPNs", "HoldfastAPNsAnswers", "HoldfastChannels", "HoldfastHTTP2",
                "HoldfastMockAPNs", "HoldfastMocking",
                "HoldfastTesting", nioCore, nioPosix,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastLegacyAPNsTests",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastLegacyAPNs", "HoldfastMockAPNs", "HoldfastMocking",
                "HoldfastOpenSSL",
                "HoldfastTesting",
                "HoldfastTransport", "RawClients", logging, nioCore, nioPosix, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastGatewayTests",
            dependencies: [
                "HoldfastPlatform", "Holdfast", "HoldfastAPNsAnswers", "HoldfastAPNs", "HoldfastFCM",
                "HoldfastGateway", "HoldfastHTTP2",
                "HoldfastJournal", "HoldfastLegacyAPNs",
                "HoldfastMockAPNs", "HoldfastMocking", "HoldfastOpenSSL", "HoldfastRequests", "HoldfastTesting",
                "HoldfastTransport",
                "RawClients",
                coreMetrics,
                logging, nioCore, nioPosix, nioSSL, serviceLifecycle,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastMockAPNsTests",
            dependencies: [
                "HoldfastMockAPNs", "HoldfastMocking", "HoldfastHTTP2", "HoldfastOpenSSL", "RawClients", nioCore,
                nioPosix, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastTestingTests",
            dependencies: [
                "HoldfastTesting", "Holdfast", "HoldfastAPNsAnswers", "HoldfastJournal", coreMetrics, logging,
                serviceLifecycle, tracing, unixSignals,
            ], swiftSettings: strict),
        .testTarget(name: "SimulationTests", dependencies: ["HoldfastTesting"], swiftSettings: strict),
        .testTarget(
            name: "HoldfastToolTests",
            dependencies: [
                "BuiltProgram", "Holdfast", "HoldfastAPNsAnswers", "HoldfastControl", "HoldfastGateway",
                "HoldfastJournal",
                "HoldfastLegacyAPNs", "HoldfastPage", "HoldfastPostgres",
                "HoldfastService", "HoldfastTesting", "HoldfastTool", "Scratch", "TestPostgres", argumentParser,
                logging, nioCore,
                nioPosix, serviceLifecycle, unixSignals,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastServiceTests",
            dependencies: [
                "BuiltProgram", "Holdfast", "HoldfastAPNsAnswers", "HoldfastControl", "HoldfastFCM", "HoldfastGateway",
                "HoldfastJournal", "HoldfastLMDB",
                "HoldfastLegacyAPNs", "HoldfastMockAPNs", "HoldfastMocking", "HoldfastPage", "HoldfastPQ",
                "HoldfastPostgres",
                "HoldfastRequests", "HoldfastService", "HoldfastTesting", "HoldfastWebhooks", "RawClients", "Scratch",
                "TestPostgres",
                configuration, coreMetrics,
                logging, serviceLifecycle, tracing, unixSignals,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastWebhooksTests",
            dependencies: [
                "BuiltProgram", "Holdfast", "HoldfastAPNsAnswers", "HoldfastControl", "HoldfastOpenSSL",
                "HoldfastRequests",
                "HoldfastTesting",
                "HoldfastTransport", "HoldfastWebhooks", "RawClients", "Scratch", logging,
            ],
            swiftSettings: strict),
        // A directory that goes away with its owner, and waiting for what is to come.
        .target(name: "Scratch", path: "Tests/Scratch", swiftSettings: strict),
        // For tests that run a program which was built beside them.
        .target(name: "BuiltProgram", path: "Tests/BuiltProgram", swiftSettings: strict),
        .testTarget(
            name: "CrashTests", dependencies: ["BuiltProgram", "HoldfastTool"], swiftSettings: strict),
        // What the disk may hold after power loss, and what happens when its calls fail. The C part stands in for libc's
        // calls in the executable it is linked into, so that is one of its own,
        // and the tests run it as a process.
        .target(name: "CStorageFaults", path: "Tests/CStorageFaults"),
        .executableTarget(
            name: "StorageFaults",
            dependencies: ["CStorageFaults", "Holdfast", "HoldfastAPNsAnswers", "HoldfastJournal", "HoldfastLMDB"],
            path: "Tests/StorageFaults", swiftSettings: strict),
        .testTarget(name: "StorageFaultsTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        // An engine whose wall clock is not the kernel's. The C part is as the one before.
        .target(name: "CMovedClock", path: "Tests/CMovedClock"),
        .executableTarget(
            name: "MovedClock",
            dependencies: ["CMovedClock", "Holdfast", "HoldfastAPNsAnswers", "HoldfastJournal", "HoldfastTesting"],
            path: "Tests/MovedClock", swiftSettings: strict),
        .testTarget(name: "MovedClockTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        // What programs that make trials have in common: seeds, tables, the line at the end.
        .target(name: "Trials", dependencies: [argumentParser], path: "Tests/Trials", swiftSettings: strict),
        // Journals damaged at random: Scripts/fuzz-verify. A process of its own, so that one that crashes is seen as that.
        .executableTarget(
            name: "JournalFuzz",
            dependencies: [
                "Holdfast", "HoldfastAPNsAnswers", "HoldfastJournal", "HoldfastLMDB", "Trials", argumentParser,
            ],
            path: "Tests/JournalFuzz", swiftSettings: strict),
        .testTarget(name: "JournalFuzzTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        // What a hostile peer may say, for those who play one.
        .target(
            name: "HostileHTTP2", dependencies: ["HoldfastHTTP2", "Trials"], path: "Tests/HostileHTTP2",
            swiftSettings: strict),
        // Peers that do anything, to both roles of the HTTP/2 machine: Scripts/fuzz-http2.
        .executableTarget(
            name: "HTTP2Fuzz", dependencies: ["HoldfastHTTP2", "HostileHTTP2", "Trials", argumentParser],
            path: "Tests/HTTP2Fuzz", swiftSettings: strict),
        .testTarget(name: "HTTP2FuzzTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        // Sockets that write what a test tells them to, and commands of others.
        .target(
            name: "RawClients", dependencies: ["Holdfast", "HoldfastTesting", nioCore, nioPosix, nioSSL],
            path: "Tests/RawClients", swiftSettings: strict),
        // Clients that do anything, to the gateway's listeners: Scripts/fuzz-gateway. A process of its own, so that one that
        // crashes is seen as that.
        .executableTarget(
            name: "GatewayFuzz",
            dependencies: [
                "Holdfast", "HoldfastGateway", "HoldfastHTTP2", "HoldfastTesting", "HostileHTTP2", "RawClients",
                "Trials",
                argumentParser, logging,
            ],
            path: "Tests/GatewayFuzz", swiftSettings: strict),
        .testTarget(name: "GatewayFuzzTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        // A service of the binary protocol that misbehaves: Scripts/binary-faults. A process of its own, so that one that
        // hangs or crashes is seen as that.
        .executableTarget(
            name: "BinaryFaults",
            dependencies: [
                "Holdfast", "HoldfastJournal", "HoldfastLegacyAPNs", "HoldfastMockAPNs", "HoldfastMocking", "Trials",
                argumentParser,
                logging,
            ],
            path: "Tests/BinaryFaults", swiftSettings: strict),
        .testTarget(name: "BinaryFaultsTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        // A service of APNs over HTTP/2 that misbehaves: Scripts/http2-faults. A process of its own, like the one before.
        .executableTarget(
            name: "HTTP2Faults",
            dependencies: [
                "Holdfast", "HoldfastJournal", "HoldfastAPNs", "HoldfastMockAPNs", "HoldfastMocking", "Trials",
                argumentParser, logging,
            ],
            path: "Tests/HTTP2Faults", swiftSettings: strict),
        .testTarget(name: "HTTP2FaultsTests", dependencies: ["BuiltProgram"], swiftSettings: strict),
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "BuiltProgram", "Holdfast", "HoldfastAPNs", "HoldfastFCM", "HoldfastGateway", "HoldfastHTTP2",
                "HoldfastMockFCM", "HoldfastMocking", "HoldfastOpenSSL",
                "HoldfastTesting", "HoldfastTool", logging,
                nioCore, nioPosix, "TestPostgres",
            ],
            exclude: ["clients", "rig"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "beside-hummingbird",
    dependencies: [
        // Holdfast itself takes Hummingbird without its traits; with them this example would build it once more.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        // In a package of your own: .package(url: "https://github.com/holdfast-push/holdfast.git", from: "0.9.0"),
        .package(name: "holdfast", path: "../../.."),
    ],
    targets: [
        .executableTarget(
            name: "BesideHummingbird",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Holdfast", package: "holdfast"),
                .product(name: "HoldfastService", package: "holdfast"),
            ])
    ]
)

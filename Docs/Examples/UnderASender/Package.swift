// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "under-a-sender",
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        // In a package of your own: .package(url: "https://github.com/holdfast-push/holdfast.git", from: "0.9.0"),
        .package(name: "holdfast", path: "../../.."),
    ],
    targets: [
        .executableTarget(
            name: "UnderASender",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Holdfast", package: "holdfast"),
                .product(name: "HoldfastAPNsAnswers", package: "holdfast"),
                .product(name: "HoldfastJournal", package: "holdfast"),
            ])
    ]
)

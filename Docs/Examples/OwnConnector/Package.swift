// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "own-connector",
    products: [.library(name: "PagerConnector", targets: ["PagerConnector"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        // In a package of your own: .package(url: "https://github.com/holdfast-push/holdfast.git", from: "0.9.0"),
        .package(name: "holdfast", path: "../../.."),
    ],
    targets: [
        .target(
            name: "PagerConnector",
            dependencies: [
                .product(name: "Holdfast", package: "holdfast"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "PagerConnectorTests",
            dependencies: ["PagerConnector", .product(name: "HoldfastTesting", package: "holdfast")]),
    ]
)

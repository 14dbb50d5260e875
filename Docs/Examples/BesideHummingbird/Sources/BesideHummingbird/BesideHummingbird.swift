import Foundation
import Holdfast
import HoldfastService
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals

/// A web application with `holdfast serve` inside: `BesideHummingbird CONFIGURATION PORT`.
@main
struct BesideHummingbird {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[2]) else {
            print("usage: BesideHummingbird CONFIGURATION PORT")
            return
        }
        let logger = Logger(label: "app")
        let pushes = try HoldfastServer(
            configuration: HoldfastConfiguration(
                file: arguments[1], environment: ProcessInfo.processInfo.environment),
            logger: logger)
        let application = Application(
            router: routes(sendingThrough: pushes),
            configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        // The last one ends first: requests that are in hand still find an engine to submit to.
        let group = ServiceGroup(
            services: [pushes, application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    static func routes(sendingThrough pushes: HoldfastServer) -> Router<BasicRequestContext> {
        let router = Router()
        // 202 when the greeting is on disk, whether or not the push service can be reached.
        router.post("welcome/:token") { _, context -> HTTPResponse.Status in
            let token = try context.parameters.require("token")
            // Asked for each time: after a failure of the disk another engine takes the first one's place.
            guard let producer = pushes.engine?.producer else { return .serviceUnavailable }
            do {
                try await producer.submit(
                    PushNotification(
                        token: try DeviceToken(token), topic: "com.example.app",
                        payload: #"{"aps":{"alert":"Welcome!"}}"#, pushType: .alert))
                return .accepted
            } catch let refusal as Refusal {
                logger(context).info("not taken: \(refusal)")
                return .badRequest
            }
        }
        router.get("health") { _, _ -> HTTPResponse.Status in
            pushes.health.isReady ? .ok : .serviceUnavailable
        }
        return router
    }

    private static func logger(_ context: BasicRequestContext) -> Logger { context.logger }
}

import Holdfast
import HoldfastControl
import HoldfastJournal
import Logging
import ServiceLifecycle
import UnixSignals

func runForOperators(journal: LMDBJournal, connector: any Connector) async throws {
    let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])
    let control = ControlSocket(desk: engine.desk, journal: journal.directory)
    // Listed first, it ends last: operators are served until the engine has ended.
    let group = ServiceGroup(
        services: [control, engine], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "push"))
    try await group.run()
}

import CoreMetrics
import Holdfast
import Logging

func observedEngine(journal: any Journal, routes: [Route], factory: any MetricsFactory) throws -> PushEngine {
    try PushEngine(
        journal: journal, routes: routes,
        logger: Logger(label: "push"),  // default: Logger(label: "holdfast")
        listeners: [Rejections()],  // default: none
        metrics: factory)  // default: the factory that swift-metrics was bootstrapped with
}

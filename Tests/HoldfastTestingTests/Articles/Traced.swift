import Holdfast
import Tracing

func tracedEngine(journal: any Journal, routes: [Route]) throws -> PushEngine {
    try PushEngine(journal: journal, routes: routes, tracer: InstrumentationSystem.tracer)
}

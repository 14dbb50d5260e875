internal import Holdfast
internal import HoldfastGateway
internal import HoldfastService

extension ToolError {
    /// - Parameter error: what ended a service.
    init(ofService error: any Error) {
        if let error = error as? GatewayError {
            self.init(error.kind == .cannotListen ? .unavailable : .configuration, error.message)
        } else {
            self.init(error, otherwise: error is RouteError ? .configuration : .internalFault)
        }
    }
}

extension ServiceRun.Outcome {
    var toolError: ToolError? { error.map(ToolError.init(ofService:)) }

    var status: ToolStatus { toolError?.status ?? .ok }
}

internal import Hummingbird
internal import NIOCore

/// The context of a request to the admin server: it knows when the connection is gone.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

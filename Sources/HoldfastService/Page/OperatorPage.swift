internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway
internal import HoldfastPage

/// The operators' page of the admin listener: its files, the JSON under `/api` that it is made of, and who may use that.
struct OperatorPage: Sendable {
    let access: PageAccess
    let service: PageService
    /// For the streams of the listener at a time.
    let streams: WaitPlaces

    /// What the admin server serves.
    var pages: [AdminPage] {
        PageAssets.all.map(Self.page)
            + [sessionPage, signInPage, signOutPage, PageEvents(places: streams, service: service).page(access)]
            + PageOperation.all.map { $0.page(access, service) }
    }

    /// The files tell nothing of the service: who can't read it has to see where to sign in.
    private static func page(_ asset: PageAsset) -> AdminPage {
        AdminPage(asset.path) { _ in PageReply.file(type: asset.type, asset.bytes) }
    }

    // MARK: Signing in

    private struct Session: Encodable {
        /// Whether who asks may see the page, and whether it may change something.
        var mayRead: Bool
        var mayChange: Bool
        /// Whether anybody can sign in.
        var canSignIn: Bool
        /// What each change has to bring as `X-Holdfast-CSRF`; absent without a session.
        var csrf: String?
        /// The session's name in the log.
        var session: String?
    }

    private var sessionPage: AdminPage {
        AdminPage("api/session") { request in
            do {
                let guest: PageAccess.Guest?
                do throws(PageRefusal) { guest = try access.reader(request) } catch {
                    // Who may not read is told how to come to it.
                    guard error.status == 401, request.authorization.isEmpty else { throw error }
                    guest = nil
                }
                return try PageReply.json(form(guest))
            } catch {
                return PageReply.failed(error)
            }
        }
    }

    private func form(_ guest: PageAccess.Guest?) -> Session {
        var form = Session(mayRead: guest != nil, mayChange: false, canSignIn: access.token != nil)
        switch guest {
        case .session(let session)?: (form.mayChange, form.csrf, form.session) = (true, session.csrf, session.label)
        case .bearer?: form.mayChange = true
        case .local?, nil: break
        }
        return form
    }

    private var signInPage: AdminPage {
        AdminPage("api/session", .post) { request in
            do {
                let items = try PageItems(body: request.body, ["token"])
                let session = try access.signIn(try items.need("token"), request)
                PageAudit(service.logger, .session(session), request).tell("an operator signed in")
                return try PageReply.json(
                    form(.session(session)), fields: PageAccess.setCookie(session, request))
            } catch {
                return PageReply.failed(error)
            }
        }
    }

    private var signOutPage: AdminPage {
        AdminPage("api/session/end", .post) { request in
            do {
                if case .session(let session) = try access.changer(request) {
                    access.signOut(session)
                    PageAudit(service.logger, .session(session), request).tell("an operator signed out")
                }
                return try PageReply.json(form(nil), fields: PageAccess.setCookie(nil, request))
            } catch {
                return PageReply.failed(error)
            }
        }
    }
}

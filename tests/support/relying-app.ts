const COOKIE = 'relying_app'

export type RelyingApp = ReturnType<typeof startRelyingApp>

/**
 * The smallest web app that leaves its sign-in to Gatehouse: it sends the browser to a hosted page,
 * exchanges what comes back for a session, keeps its token in a cookie, and shows the user.
 */
export function startRelyingApp(gatehouse: { url: string; key: string }) {
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      const [, page = '', kind = ''] = pathname.split('/')
      if (page === '') return home(request)
      if (page === 'start') return begin(kind, request)
      if (page === 'back') return welcome(searchParams)
      if (page === 'sign-out') return signOut(request)
      return new Response('nothing here', { status: 404 })
    },
  })
  const url = listener.url.origin

  /** Asks Gatehouse with the key of the app, and with the session of the browser. */
  const ask = (path: string, { headers = {}, ...init }: RequestInit = {}): Promise<Response> =>
    fetch(`${gatehouse.url}/v1/gate${path}`, {
      ...init,
      headers: { authorization: `Bearer ${gatehouse.key}`, ...headers },
    })
  const whoami = (request: Request): Promise<Response> =>
    ask('/sessions/whoami', { headers: { 'x-session-token': tokenIn(request) } })

  async function home(request: Request): Promise<Response> {
    const answer = await whoami(request)
    if (!answer.ok) return page(NOBODY)
    const { identity, authenticator_assurance_level: level } = await answer.json()
    return page(`<h1>Paper shop</h1>
      <p>Signed in as <b>${Bun.escapeHTML(identity.traits.email)}</b>, <i>${level}</i>.</p>
      <p><a href="/start/settings">Account</a></p>
      <form method="post" action="/sign-out"><button>Sign out</button></form>`)
  }

  async function begin(kind: string, request: Request): Promise<Response> {
    const headers = {
      'x-return-to': `${url}/back`,
      'x-session-token': tokenIn(request),
      'accept-language': request.headers.get('accept-language') ?? 'en',
    }
    const answer = await ask(`/auth/${kind}`, { headers })
    const flow = await answer.json()
    return answer.ok ? go(flow.hosted_url) : page(`<h1>Not now</h1><p>${flow.error}</p>`)
  }

  async function welcome(brought: URLSearchParams): Promise<Response> {
    const code = brought.get('code')
    if (code === null) return go(url)
    const body = JSON.stringify({ flow: brought.get('flow'), code })
    const headers = { 'content-type': 'application/json' }
    const answer = await ask('/sessions/exchange', { method: 'POST', headers, body })
    const { session_token: token, error } = await answer.json()
    if (!answer.ok) return page(`<h1>Not signed in</h1><p>${error}</p>${NOBODY}`)
    return go(url, `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax`)
  }

  async function signOut(request: Request): Promise<Response> {
    const { id } = await (await whoami(request)).json()
    await ask(`/sessions/${id}`, { method: 'DELETE' })
    return go(url, `${COOKIE}=; Path=/; Max-Age=0`)
  }

  return { url, cookie: COOKIE, [Symbol.asyncDispose]: () => listener.stop(true) }
}

const tokenIn = (request: Request): string =>
  new Bun.CookieMap(request.headers.get('cookie') ?? '').get(COOKIE) ?? ''

const go = (location: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location, ...(cookie && { 'set-cookie': cookie }) },
  })

const page = (body: string): Response =>
  new Response(`<!doctype html><html lang="en"><title>Paper shop</title>${body}</html>`, {
    headers: { 'content-type': 'text/html; charset=utf-8' },
  })

const NOBODY = `<h1>Paper shop</h1>
<p>Nobody is signed in.</p>
<p><a href="/start/login">Sign in</a> <a href="/start/registration">Sign up</a></p>`

/** What the app asks Gatehouse for, with its own key: a flow, a session, an end of one. */
interface Asking {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: object
}

const COOKIE = 'relying_app'

export type RelyingApp = ReturnType<typeof startRelyingApp>

/**
 * The smallest web app that leaves its sign-in to Gatehouse: it sends the browser to a hosted page,
 * exchanges what comes back for a session, keeps the token of it in a cookie, and says who is there.
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
      if (page === 'back') return welcome(searchParams, request)
      if (page === 'sign-out' && request.method === 'POST') return signOut(request)
      return new Response('nothing here', { status: 404 })
    },
  })
  const url = listener.url.origin

  const ask = ({ path, method = 'GET', headers, body }: Asking): Promise<Response> =>
    fetch(`${gatehouse.url}/v1/gate${path}`, {
      method,
      headers: {
        authorization: `Bearer ${gatehouse.key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })

  const whoami = (token: string): Promise<Response> =>
    ask({ path: '/sessions/whoami', headers: { 'x-session-token': token } })

  async function home(request: Request): Promise<Response> {
    const answer = await whoami(tokenIn(request))
    if (!answer.ok) return page(NOBODY)
    const session = await answer.json()
    const { traits } = session.identity
    return page(somebody(traits.email, session.authenticator_assurance_level))
  }

  /** In the language of the browser, and with the session of whoever is there. */
  async function begin(kind: string, request: Request): Promise<Response> {
    const answer = await ask({
      path: `/auth/${kind}${new URL(request.url).search}`,
      headers: {
        'x-return-to': `${url}/back`,
        'x-session-token': tokenIn(request),
        'accept-language': request.headers.get('accept-language') ?? 'en',
      },
    })
    const flow = await answer.json()
    return answer.ok ? go(flow.hosted_url) : page(`<h1>Not now</h1><p>${flow.error}</p>`)
  }

  async function welcome(brought: URLSearchParams, request: Request): Promise<Response> {
    const code = brought.get('code')
    if (code === null) return go(url)
    const body = { flow: brought.get('flow') ?? '', code }
    const answer = await ask({ path: '/sessions/exchange', method: 'POST', body })
    const { session_token: token, error } = await answer.json()
    // Brought twice, such as by the back button: whoever is there is there.
    if (!answer.ok && (await whoami(tokenIn(request))).ok) return go(url)
    if (!answer.ok) return page(`<h1>Not signed in</h1><p>${error}</p>${NOBODY}`)
    return go(url, `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax`)
  }

  async function signOut(request: Request): Promise<Response> {
    const { id } = await (await whoami(tokenIn(request))).json()
    await ask({ path: `/sessions/${id}`, method: 'DELETE' })
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
  new Response(
    `<!doctype html><html lang="en"><head><title>Paper shop</title></head><body>${body}</body></html>`,
    { headers: { 'content-type': 'text/html; charset=utf-8' } },
  )

const NOBODY = `<h1>Paper shop</h1>
<p>Nobody is signed in.</p>
<p><a href="/start/login">Sign in</a> <a href="/start/registration">Sign up</a>
<a href="/start/recovery">Lost password</a> <a href="/start/verification">Confirm address</a></p>`

const somebody = (email: string, level: string): string => `<h1>Paper shop</h1>
<p>Signed in as <b>${Bun.escapeHTML(email)}</b>, <i>${level}</i>.</p>
<p><a href="/start/settings">Account</a></p>
<form method="post" action="/sign-out"><button>Sign out</button></form>`

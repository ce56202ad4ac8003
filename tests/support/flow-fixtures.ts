import encodeQR from 'qr'
import { type AnyProvider, PROVIDERS } from '../../src/config/index.ts'
import type { FlowPage, NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import * as build from '../../src/engines/gate/sign-in/flows/ui/builders.ts'
import { linkEntry } from '../../src/engines/gate/sign-in/flows/ui/code-entry.ts'
import * as ui from '../../src/engines/gate/sign-in/flows/ui/index.ts'
import type {
  Flow,
  FlowKind,
  Message,
  Node,
  NodeGroup,
} from '../../src/engines/gate/sign-in/model.ts'

/** What the token against forgery is in every fixture. */
export const CSRF = 'csrf-of-the-flow'
export const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
export const CODES = [
  ...['k7fw2m9qxa', 'p3nd8z5rtc', 'h6vb4j2ygs', 'w9cx7e3ukm', 'q2ra6t8fzd'],
  ...['m5yg3s9hwb', 'x8kj2v4cpn', 'd4te7b6mqr', 'z6us9f3xhj'],
]
const ADDRESS = 'ada@example.com'

export const says = (
  id: number,
  text: string,
  type: Message['type'] = 'info',
  context?: Record<string, unknown>,
): Message => ({ id, text, type, ...(context && { context }) })

type InputAttributes = Extract<Node['attributes'], { node_type: 'input' }>

/** An input of a form; `label` as text or as a whole message. */
export function input(
  group: NodeGroup,
  attributes: Partial<InputAttributes> & { name: string },
  label?: string | Message,
  messages: Message[] = [],
): Node {
  const message = typeof label === 'string' ? says(1070000, label) : label
  const node = build.input(group, { type: 'text', ...attributes }, message)
  const all = { ...node.attributes, ...attributes } as Node['attributes']
  return { ...node, attributes: all, messages }
}

export const text = (group: NodeGroup, id: string, message: Message, label = ''): Node =>
  build.text(group, id, message, says(label ? 1050000 : 0, label))

export const picture = (src: string): Node =>
  build.picture('totp', 'totp_qr', { src, size: 256 }, says(1050005, 'QR code'))

export const link = (href: string, title: string): Node =>
  build.link('code', 'continue', href, says(1070000, title))

export const csrf = () => build.csrfNode(CSRF)

export const submit = (group: NodeGroup, name: string, value: string, label: string | Message) =>
  input(group, { name, value, type: 'submit' }, label)

interface Wanted extends Partial<Omit<FlowPage, 'flow'>> {
  nodes: Node[]
  messages?: Message[]
  flow?: Partial<Flow>
  origin?: string
}

/** A page of a flow as it would come from the engine. */
export function flowPage({ nodes, messages, flow, origin = '', ...page }: Wanted): FlowPage {
  const kind: FlowKind = page.kind ?? 'login'
  return {
    kind,
    tenantName: 'Acme',
    language: 'en',
    status: 200,
    ...page,
    flow: {
      id: '0197d6c2-2f6b-7d1c-9d3e-5a8e0c7f4b21',
      type: 'browser',
      issued_at: '2026-03-01T12:00:00.000Z',
      expires_at: '2026-03-01T13:00:00.000Z',
      request_url: 'https://gate.example.org/v1/gate/auth/login',
      state: kind === 'settings' ? 'show_form' : 'choose_method',
      hosted_url: 'https://gate.example.org/auth/self-service/login?flow=1',
      ...flow,
      ui: {
        action: `${origin || 'https://gate.example.org'}/auth/self-service/${kind}?flow=0197d6c2`,
        method: 'POST',
        nodes,
        ...(messages && { messages }),
      },
    },
  }
}

/** Everything hostile that a name may be: long, turned round, markup, without a gap. */
export const HOSTILE_NAME = `\u202e<script>alert(1)</script>\u2066"'&\n${'Ẑ͉͖a̵'.repeat(300)}${'M'.repeat(9_000)}`

const SENT = { state: 'sent_email', active: 'code' } as const
const SECOND = { requested_aal: 'aal2' } as const

export const withMessage = (nodes: Node[], field: string, message: Message): Node[] =>
  ui.withMessage(nodes, field, message) ?? nodes

function pagesIn(language: FlowPage['language'], origin: string) {
  const say = ui.createSay(language)
  const page = (nodes: Node[], wanted: Omit<Wanted, 'origin' | 'nodes'> = {}) =>
    flowPage({ nodes: [csrf(), ...nodes], language, ...wanted, origin })
  const to = (kind: FlowKind) => ({ kind, url: `/auth/self-service/${kind}` })
  const links = [to('registration'), to('recovery')]
  const recovery = { kind: 'recovery' } as const
  const verification = { kind: 'verification' } as const
  const settings = { kind: 'settings' } as const
  const buttons = (...providers: AnyProvider[]) => ui.socialButtons(say, 'login', providers)
  const joins = (...providers: AnyProvider[]) => ui.socialButtons(say, 'registration', providers)
  const password = () => ui.passwordLogin(say, { isRefresh: false })
  const codeLogin = ui.codeLoginSent(say, { identifier: ADDRESS })
  const secondFactor = [...ui.totpLogin(say), ...ui.lookupLogin(say)]
  const profile = ui.profileSettings(say, { email: ADDRESS })
  const qrUrl = `otpauth://totp/Acme:${ADDRESS}?secret=${SECRET}&issuer=Acme`
  const qr = `data:image/gif;base64,${Buffer.from(encodeQR(qrUrl, 'gif')).toString('base64')}`
  const news = { name: 'traits.news', type: 'checkbox', value: 'true' }
  return {
    login: page(
      [
        ui.identifierNode(say),
        ...password(),
        ...ui.codeLogin(say),
        ...buttons('github', 'google', 'apple'),
      ],
      { links },
    ),
    'login-refused': page(
      [ui.identifierNode(say, { value: ADDRESS }), ...password(), ...buttons(...PROVIDERS)],
      { status: 422, messages: [say(4000006)], links },
    ),
    'login-again': page(
      [
        ui.identifierNode(say, { value: ADDRESS, isHidden: true }),
        ...ui.passwordLogin(say, { isRefresh: true }),
        ...buttons('github'),
      ],
      { messages: [say(1010003)], flow: { refresh: true } },
    ),
    'login-code': page(withMessage(codeLogin, 'code', say(4010008)), {
      messages: [say(1010014)],
      flow: SENT,
      links: [to('login')],
    }),
    'login-second-factor': page(secondFactor, { messages: [say(1010004)], flow: SECOND }),
    'login-recovery-code': page(withMessage(secondFactor, 'lookup_secret', say(4000016)), {
      flow: { ...SECOND, active: 'lookup_secret' },
    }),
    registration: page(
      withMessage(
        [
          ui.emailTrait(say, { value: ADDRESS }),
          input('default', { name: 'traits.nickname' }, 'Nickname'),
          input('default', news, 'Send me product news'),
          ...ui.passwordRegistration(say),
          ...joins('github', 'google'),
        ],
        'password',
        say(4000032, { min_length: 8 }),
      ),
      { kind: 'registration', status: 422, links: [to('login')] },
    ),
    'registration-address': page([ui.emailTrait(say), ...joins('github')], {
      kind: 'registration',
      messages: [say(1900003, { provider: 'GitHub' })],
    }),
    recovery: page(ui.recoveryStart(say), { ...recovery, links: [to('login')] }),
    'recovery-code': page(ui.recoveryCodeSent(say, { email: ADDRESS }), {
      ...recovery,
      messages: [say(1060003)],
      flow: SENT,
    }),
    'recovery-link': page(linkEntry(say, 'A'.repeat(43)), {
      ...recovery,
      messages: [say(1900010, { address: ADDRESS })],
      flow: SENT,
    }),
    'verification-choice': page(ui.confirmChoice(say, { mayRecover: true }), {
      ...verification,
      messages: [say(1900006)],
      flow: SENT,
    }),
    'verification-done': page([link('https://app.example.com/welcome', 'Continue')], {
      ...verification,
      messages: [say(1080002)],
      flow: { state: 'passed_challenge' },
    }),
    'settings-new': page(
      [
        ...profile,
        ...ui.passwordSettings(say),
        ...ui.socialSettings(say, { unlinked: ['google', 'microsoft'], removable: ['github'] }),
        ...ui.totpSetup(say, { qr, secret: SECRET }),
        ...ui.lookupNone(say),
      ],
      settings,
    ),
    'settings-kept': page(
      [
        ...profile,
        ...ui.socialSettings(say, {
          unlinked: ['gitlab', 'microsoft', 'discord', 'slack'],
          removable: ['github', 'google'],
        }),
        ...ui.totpSet(say),
        ...ui.lookupShown(say, { codes: CODES }),
      ],
      { ...settings, messages: [say(1050001)], flow: { state: 'success' } },
    ),
    'settings-wrong': page(
      [...withMessage(profile, 'traits.email', say(4000040)), ...ui.lookupSet(say)],
      { ...settings, status: 422 },
    ),
  }
}

/** The pages with the longest German labels. */
const LONGEST = ['login', 'login-code', 'login-second-factor', 'recovery-code', 'settings-new']

/** Every page there is, by a name for its picture. `origin` is where the forms go. */
export function flowFixtures(origin = '') {
  const german = Object.entries(pagesIn('de', origin)).filter(([name]) => LONGEST.includes(name))
  const english = pagesIn('en', origin)
  const others: Record<string, FlowPage> = {
    ...Object.fromEntries(german.map(([name, page]) => [`german-${name}`, page])),
    hostile: { ...english.login, tenantName: HOSTILE_NAME },
  }
  return Object.assign(others, english)
}

const STATUSES: Record<NoticePage['notice'], number> = {
  signed_in: 200,
  signed_up: 200,
  flow_unknown: 404,
  flow_expired: 410,
  other_browser: 403,
  forbidden: 403,
  too_many_tries: 429,
  not_now: 402,
  failed: 403,
}

export const noticeFixtures = (): NoticePage[] =>
  (Object.keys(STATUSES) as NoticePage['notice'][]).map((notice) => ({
    notice,
    status: STATUSES[notice],
    language: 'en',
    tenantName: 'Acme',
  }))

import encodeQR from 'qr'
import { PROVIDERS } from '../../src/config/index.ts'
import type { FlowPage, NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import * as build from '../../src/engines/gate/sign-in/flows/ui/builders.ts'
import {
  codeEntry,
  linkEntry,
  resendCode,
} from '../../src/engines/gate/sign-in/flows/ui/code-entry.ts'
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

const ADDRESS = 'ada@example.com'
const say = ui.createSay('en')

export const says = (
  id: number,
  text: string,
  type: Message['type'] = 'info',
  context?: Record<string, unknown>,
): Message => ({ id, text, type, ...(context && { context }) })

type InputAttributes = Extract<Node['attributes'], { node_type: 'input' }>

const asMessage = (label?: string | Message) =>
  typeof label === 'string' ? says(1070000, label) : label

/** An input of a form; `label` as text or as a whole message. */
export function input(
  group: NodeGroup,
  attributes: Partial<InputAttributes> & { name: string },
  label?: string | Message,
  messages: Message[] = [],
): Node {
  const node = build.input(group, { type: 'text', ...attributes }, asMessage(label))
  const all = { ...node.attributes, ...attributes } as Node['attributes']
  return { ...node, attributes: all, messages }
}

export const text = (group: NodeGroup, id: string, message: Message, label = ''): Node =>
  build.text(group, id, message, says(label ? 1050000 : 0, label))

export const picture = (src: string): Node =>
  build.picture(
    'totp',
    'totp_qr',
    { src, size: 256 },
    says(1050005, 'QR code for your authenticator app'),
  )

export const link = (href: string, title: string): Node =>
  build.link('code', 'continue', href, says(1070000, title))

export const csrf = () => build.csrfNode(CSRF)

export const submit = (group: NodeGroup, name: string, value: string, label: string | Message) =>
  input(group, { name, value, type: 'submit' }, label)

export const PROVIDER_NAMES = Object.fromEntries(
  PROVIDERS.map((id) => [id, ui.providerName(id)]),
) as Record<(typeof PROVIDERS)[number], string>

type Provider = keyof typeof PROVIDER_NAMES

export const provider = (id: Provider, verb = 'Sign in with', name = 'provider'): Node => {
  const context = { provider: PROVIDER_NAMES[id], provider_id: id }
  return submit('oidc', name, id, says(1010002, `${verb} ${context.provider}`, 'info', context))
}

/** The nodes with a message at a field. */
const withMessage = (nodes: Node[], field: string, ...messages: Message[]): Node[] =>
  messages.reduce((all, message) => ui.withMessage(all, field, message) ?? all, nodes)

const identifier = (value?: string) => ui.identifierNode(say, { value })
const hiddenIdentifier = () => ui.identifierNode(say, { value: ADDRESS, isHidden: true })
const byPassword = (isRefresh = false) => ui.passwordLogin(say, { isRefresh })

export const loginNodes = (): Node[] => [
  csrf(),
  identifier(),
  ...byPassword(),
  ...ui.codeLogin(say),
  ...(['github', 'google', 'apple'] as const).map((id) => provider(id)),
]

export const loginCodeNodes = (messages: Message[] = []): Node[] => {
  const entry = codeEntry(say, { label: 1070013, pattern: '[0-9]+', maxlength: 6 })
  const nodes = [csrf(), hiddenIdentifier(), ...entry, resendCode(say)]
  return withMessage(nodes, 'code', ...messages)
}

export const secondFactorNodes = (messages: Message[] = []): Node[] =>
  withMessage([csrf(), ...ui.totpLogin(say), ...ui.lookupLogin(say)], 'lookup_secret', ...messages)

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

function qr() {
  const url = `otpauth://totp/Acme:${ADDRESS}?secret=${SECRET}&issuer=Acme`
  return `data:image/gif;base64,${Buffer.from(encodeQR(url, 'gif')).toString('base64')}`
}

const profile = () => ui.profileSettings(say, { email: ADDRESS })

export const newSettingsNodes = (): Node[] => [
  csrf(),
  ...profile(),
  ...ui.passwordSettings(say),
  provider('github', 'Disconnect', 'unlink'),
  provider('google', 'Connect', 'link'),
  provider('microsoft', 'Connect', 'link'),
  ...ui.totpSetup(say, { qr: qr(), secret: SECRET }),
  ...ui.lookupNone(say),
]

export const CODES = [
  ...['k7fw2m9qxa', 'p3nd8z5rtc', 'h6vb4j2ygs', 'w9cx7e3ukm', 'q2ra6t8fzd'],
  ...['m5yg3s9hwb', 'x8kj2v4cpn', 'd4te7b6mqr', 'z6us9f3xhj'],
]

/** With one code that was used. */
const codesNode = () => {
  const used = says(1050014, 'Already used', 'info', { used_at: '2026-03-03T12:00:00Z' })
  const secrets = [...CODES.map((secret) => say(1050009, { secret })), used]
  const shown = says(1050015, CODES.join(', '), 'info', { secrets })
  return text('lookup_secret', 'lookup_secret_codes', shown, say(1050010).text)
}

export const keptSettingsNodes = (): Node[] => [
  csrf(),
  ...profile(),
  provider('github', 'Disconnect', 'unlink'),
  provider('google', 'Disconnect', 'unlink'),
  ...(['gitlab', 'microsoft', 'discord', 'slack'] as const).map((id) =>
    provider(id, 'Connect', 'link'),
  ),
  ...ui.totpSet(say),
  codesNode(),
  submit('lookup_secret', 'lookup_secret_confirm', 'true', "I've saved my recovery codes"),
]

interface Wanted extends Partial<Omit<FlowPage, 'flow'>> {
  nodes: Node[]
  messages?: Message[]
  flow?: Partial<Flow>
  /** Where the forms go. */
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

const isNoToken = ({ attributes }: Node) => attributes.name !== 'csrf_token'

/** Every page there is, by a name for its picture. `origin` is where the forms go. */
export function flowFixtures(origin = ''): Record<string, FlowPage> {
  const page = (nodes: Node[], wanted: Omit<Wanted, 'origin' | 'nodes'> = {}) =>
    flowPage({ nodes: [csrf(), ...nodes.filter(isNoToken)], ...wanted, origin })
  const to = (kind: FlowKind) => ({ kind, url: `/auth/self-service/${kind}` })
  const links = [to('registration'), to('recovery')]
  const recovery = { kind: 'recovery' } as const
  const verification = { kind: 'verification' } as const
  const settings = { kind: 'settings' } as const
  const everyProvider = Object.keys(PROVIDER_NAMES).map((id) => provider(id as Provider))
  const news = { name: 'traits.news', type: 'checkbox', value: 'true' }
  return {
    login: page(loginNodes(), { links }),
    'login-refused': page([identifier(ADDRESS), ...byPassword(), ...everyProvider], {
      status: 422,
      messages: [say(4000006)],
      links,
    }),
    'login-again': page([hiddenIdentifier(), ...byPassword(true), provider('github')], {
      messages: [say(1010003)],
      flow: { refresh: true },
    }),
    'login-code': page(loginCodeNodes([say(4010008)]), {
      messages: [say(1010014)],
      flow: SENT,
      links: [to('login')],
    }),
    'login-second-factor': page(secondFactorNodes(), { messages: [say(1010004)], flow: SECOND }),
    'login-recovery-code': page(secondFactorNodes([say(4000016)]), {
      flow: { ...SECOND, active: 'lookup_secret' },
    }),
    registration: page(
      withMessage(
        [
          ui.emailTrait(say, { value: ADDRESS }),
          input('default', { name: 'traits.nickname' }, 'Nickname'),
          input('default', news, 'Send me product news'),
          ...ui.passwordRegistration(say),
          provider('github', 'Continue with'),
          provider('google', 'Continue with'),
        ],
        'password',
        say(4000032, { min_length: 8 }),
      ),
      { kind: 'registration', status: 422, links: [to('login')] },
    ),
    'registration-address': page([ui.emailTrait(say), provider('github', 'Sign up with')], {
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
    'settings-new': page(newSettingsNodes(), settings),
    'settings-kept': page(keptSettingsNodes(), {
      ...settings,
      messages: [say(1050001)],
      flow: { state: 'success' },
    }),
    'settings-wrong': page(
      [...withMessage(profile(), 'traits.email', say(4000040)), ...ui.lookupSet(say)],
      { ...settings, status: 422 },
    ),
    ...germanFixtures(page, links),
    hostile: page(loginNodes(), { tenantName: HOSTILE_NAME }),
  }
}

/** The steps with the longest German labels. */
function germanFixtures(
  page: (nodes: Node[], wanted: Omit<Wanted, 'origin' | 'nodes'>) => FlowPage,
  links: FlowPage['links'],
) {
  const say = ui.createSay('de')
  const german = { language: 'de' } as const
  const names = { email: ADDRESS, displayName: 'Ada Lovelace' }
  const login = [ui.identifierNode(say), ...ui.passwordLogin(say, { isRefresh: false })]
  const byOthers = [...ui.codeLogin(say), provider('google', 'Anmelden mit')]
  return {
    german: page([...login, ...byOthers], {
      ...german,
      tenantName: 'Bäckerei Müller & Söhne',
      links,
    }),
    'german-code': page(ui.codeLoginSent(say, { identifier: ADDRESS }), {
      ...german,
      messages: [say(4010008), say(1010014)],
      flow: SENT,
    }),
    'german-second-factor': page([...ui.totpLogin(say), ...ui.lookupLogin(say)], {
      ...german,
      messages: [say(1010004)],
      flow: { ...SECOND, active: 'lookup_secret' },
    }),
    'german-recovery': page(ui.recoveryCodeSent(say, { email: ADDRESS }), {
      ...german,
      kind: 'recovery',
      messages: [say(1060003)],
      flow: SENT,
    }),
    'german-choice': page(ui.confirmChoice(say, { mayRecover: true }), {
      ...german,
      kind: 'verification',
      messages: [say(1900006)],
      flow: SENT,
    }),
    'german-settings': page(
      [
        ...ui.profileSettings(say, names),
        ...ui.passwordSettings(say),
        ...ui.socialSettings(say, { unlinked: ['google', 'microsoft'], removable: ['github'] }),
        ...ui.totpSetup(say, { qr: qr(), secret: SECRET }),
        ...ui.lookupShown(say, { codes: CODES }),
      ],
      { ...german, kind: 'settings', messages: [say(1050001)] },
    ),
    'german-settings-kept': page([...ui.totpSet(say), ...ui.lookupSet(say)], {
      ...german,
      kind: 'settings',
      messages: [say(1900002, { address: ADDRESS }), say(4900011)],
    }),
  }
}

const ENDINGS: Record<NoticePage['notice'], Partial<NoticePage>> = {
  signed_in: {},
  signed_up: {},
  flow_unknown: { status: 404, tenantName: null },
  flow_expired: { status: 410, tenantName: null },
  other_browser: { status: 403, tenantName: null },
  forbidden: { status: 403 },
  too_many_tries: { status: 429 },
  not_now: { status: 402, tenantName: null },
  failed: { status: 403, tenantName: null },
}

/** Every notice there is. */
export function noticeFixtures(language: NoticePage['language'] = 'en'): NoticePage[] {
  const common = { status: 200, language, tenantName: 'Acme' }
  return Object.entries(ENDINGS).map(([notice, rest]) => ({
    ...common,
    notice: notice as NoticePage['notice'],
    ...rest,
  }))
}

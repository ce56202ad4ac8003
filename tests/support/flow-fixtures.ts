import encodeQR from 'qr'
import type { FlowPage, NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import * as ui from '../../src/engines/gate/sign-in/flows/ui/index.ts'
import { english } from '../../src/engines/gate/sign-in/flows/ui/words-en.ts'
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
  return {
    type: 'input',
    group,
    attributes: { node_type: 'input', type: 'text', value: '', disabled: false, ...attributes },
    messages,
    meta: { label: label === undefined ? NO_LABEL : asMessage(label) },
  }
}

const NO_LABEL = says(0, '')

const asMessage = (label: string | Message) =>
  typeof label === 'string' ? says(1070000, label) : label

export const text = (group: NodeGroup, id: string, message: Message, label?: string): Node => ({
  type: 'text',
  group,
  attributes: { node_type: 'text', id, name: id, type: 'text', value: message.text, text: message },
  messages: [],
  meta: { label: label === undefined ? NO_LABEL : says(1050000, label) },
})

export const picture = (src: string): Node => ({
  type: 'img',
  group: 'totp',
  attributes: {
    node_type: 'img',
    id: 'totp_qr',
    name: 'totp_qr',
    type: 'img',
    value: src,
    src,
    width: 256,
    height: 256,
  },
  messages: [],
  meta: { label: says(1050005, 'QR code for your authenticator app') },
})

export const link = (href: string, title: string): Node => ({
  type: 'a',
  group: 'code',
  attributes: {
    node_type: 'a',
    id: 'continue',
    name: 'continue',
    type: 'a',
    value: href,
    href,
    title: says(1070000, title),
  },
  messages: [],
  meta: { label: NO_LABEL },
})

export const csrf = () =>
  input('default', { name: 'csrf_token', type: 'hidden', value: CSRF, required: true })

export const submit = (group: NodeGroup, name: string, value: string, label: string | Message) =>
  input(group, { name, value, type: 'submit' }, label)

const identifier = (value = '', messages: Message[] = []) =>
  input('default', { name: 'identifier', value, required: true }, 'Email address', messages)

const hiddenIdentifier = () =>
  input('default', { name: 'identifier', type: 'hidden', value: ADDRESS })

const password = (autocomplete: string, label = 'Password', messages: Message[] = []) =>
  input(
    'password',
    { name: 'password', type: 'password', required: true, autocomplete },
    label,
    messages,
  )

const code = (label: string, messages: Message[] = []) =>
  input(
    'code',
    {
      name: 'code',
      required: true,
      autocomplete: 'one-time-code',
      pattern: '[0-9]+',
      maxlength: 6,
    },
    label,
    messages,
  )

const hiddenMethod = () => input('code', { name: 'method', type: 'hidden', value: 'code' })

export const PROVIDER_NAMES = {
  github: 'GitHub',
  google: 'Google',
  gitlab: 'GitLab',
  microsoft: 'Microsoft',
  discord: 'Discord',
  facebook: 'Facebook',
  linkedin: 'LinkedIn',
  apple: 'Apple',
  slack: 'Slack',
  twitch: 'Twitch',
  spotify: 'Spotify',
}

type Provider = keyof typeof PROVIDER_NAMES

export const provider = (id: Provider, verb = 'Sign in with', name = 'provider'): Node => {
  const context = { provider: PROVIDER_NAMES[id], provider_id: id }
  return submit('oidc', name, id, says(1010002, `${verb} ${context.provider}`, 'info', context))
}

export const loginNodes = (): Node[] => [
  csrf(),
  identifier(),
  password('current-password'),
  submit('password', 'method', 'password', 'Sign in'),
  submit('code', 'method', 'code', 'Email me a sign-in code'),
  provider('github'),
  provider('google'),
  provider('apple'),
]

export const loginCodeNodes = (messages: Message[] = []): Node[] => [
  csrf(),
  hiddenIdentifier(),
  hiddenMethod(),
  code('Verification code', messages),
  submit('code', 'method', 'code', 'Sign in'),
  submit('code', 'resend', 'code', 'Resend code'),
]

export const secondFactorNodes = (messages: Message[] = []): Node[] => [
  csrf(),
  input(
    'totp',
    { name: 'totp_code', value: '', required: true },
    'Code from your authenticator app',
  ),
  submit('totp', 'method', 'totp', 'Sign in'),
  input('lookup_secret', { name: 'lookup_secret', required: true }, 'Recovery code', messages),
  submit('lookup_secret', 'method', 'lookup_secret', 'Sign in with recovery code'),
]

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

const qr = () =>
  `data:image/gif;base64,${Buffer.from(encodeQR(`otpauth://totp/Acme:${ADDRESS}?secret=${SECRET}&issuer=Acme`, 'gif')).toString('base64')}`

const profileNodes = (messages: Message[] = []): Node[] => [
  input(
    'profile',
    { name: 'traits.email', type: 'email', value: ADDRESS, required: true, autocomplete: 'email' },
    'Email address',
    messages,
  ),
  submit('profile', 'method', 'profile', 'Save'),
]

export const newSettingsNodes = (): Node[] => [
  csrf(),
  ...profileNodes(),
  password('new-password', 'New password'),
  submit('password', 'method', 'password', 'Save'),
  provider('github', 'Disconnect', 'unlink'),
  provider('google', 'Connect', 'link'),
  provider('microsoft', 'Connect', 'link'),
  picture(qr()),
  text(
    'totp',
    'totp_secret_key',
    says(1050006, SECRET, 'info', { secret: SECRET }),
    'Or enter this setup key in the app',
  ),
  input(
    'totp',
    { name: 'totp_code', value: '', required: true },
    'Code from your authenticator app',
  ),
  submit('totp', 'method', 'totp', 'Save'),
  submit('lookup_secret', 'lookup_secret_regenerate', 'true', 'Generate recovery codes'),
]

export const CODES = [
  'k7fw2m9qxa',
  'p3nd8z5rtc',
  'h6vb4j2ygs',
  'w9cx7e3ukm',
  'q2ra6t8fzd',
  'm5yg3s9hwb',
  'x8kj2v4cpn',
  'd4te7b6mqr',
  'z6us9f3xhj',
]

const codesNode = () =>
  text(
    'lookup_secret',
    'lookup_secret_codes',
    says(1050015, CODES.join(', '), 'info', {
      secrets: [
        ...CODES.map((secret) => says(1050009, secret, 'info', { secret })),
        says(1050014, 'Already used', 'info', { used_at: '2026-03-03T12:00:00Z' }),
      ],
    }),
    "Save these recovery codes now. They won't be shown again. Each code works once.",
  )

export const keptSettingsNodes = (): Node[] => [
  csrf(),
  ...profileNodes(),
  provider('github', 'Disconnect', 'unlink'),
  provider('google', 'Disconnect', 'unlink'),
  ...(['gitlab', 'microsoft', 'discord', 'slack'] as const).map((id) =>
    provider(id, 'Connect', 'link'),
  ),
  submit('totp', 'totp_unlink', 'true', 'Remove authenticator app'),
  codesNode(),
  submit('lookup_secret', 'lookup_secret_confirm', 'true', "I've saved my recovery codes"),
]

const keptCodesNodes = (): Node[] => [
  csrf(),
  ...profileNodes([says(4000040, 'Enter a valid email address.', 'error')]),
  submit('lookup_secret', 'lookup_secret_regenerate', 'true', 'Generate recovery codes'),
  submit('lookup_secret', 'lookup_secret_disable', 'true', 'Remove recovery codes'),
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

/** Every page there is, by a name for its picture. `origin` is where the forms go. */
export function flowFixtures(origin = ''): Record<string, FlowPage> {
  const page = (wanted: Omit<Wanted, 'origin'>) => flowPage({ ...wanted, origin })
  const to = (kind: FlowKind) => ({ kind, url: `/auth/self-service/${kind}` })
  const loginLinks = [to('registration'), to('recovery')]
  return {
    login: page({ nodes: loginNodes(), links: loginLinks }),
    'login-refused': page({
      status: 422,
      nodes: [
        csrf(),
        identifier(ADDRESS),
        password('current-password'),
        submit('password', 'method', 'password', 'Sign in'),
        ...Object.keys(PROVIDER_NAMES).map((id) => provider(id as Provider)),
      ],
      messages: [says(4000006, english.texts[4000006], 'error')],
      links: loginLinks,
    }),
    'login-again': page({
      nodes: [
        csrf(),
        hiddenIdentifier(),
        password('current-password'),
        submit('password', 'method', 'password', 'Confirm'),
        provider('github'),
      ],
      messages: [says(1010003, english.texts[1010003])],
      flow: { refresh: true },
    }),
    'login-code': page({
      nodes: loginCodeNodes([says(4010008, english.texts[4010008], 'error')]),
      messages: [says(1010014, english.texts[1010014])],
      flow: { state: 'sent_email', active: 'code' },
      links: [to('login')],
    }),
    'login-second-factor': page({
      nodes: secondFactorNodes(),
      messages: [says(1010004, english.texts[1010004])],
      flow: { requested_aal: 'aal2' },
    }),
    'login-recovery-code': page({
      nodes: secondFactorNodes([says(4000016, english.texts[4000016], 'error')]),
      flow: { requested_aal: 'aal2', active: 'lookup_secret' },
    }),
    registration: page({
      kind: 'registration',
      status: 422,
      nodes: [
        csrf(),
        input(
          'default',
          {
            name: 'traits.email',
            type: 'email',
            value: ADDRESS,
            required: true,
            autocomplete: 'email',
          },
          'Email address',
        ),
        input('default', { name: 'traits.nickname' }, 'Nickname'),
        input(
          'default',
          { name: 'traits.news', type: 'checkbox', value: 'true' },
          'Send me product news',
        ),
        password('new-password', 'Password', [
          says(4000032, 'This password is too short. Use at least 8 characters.', 'error'),
        ]),
        submit('password', 'method', 'password', 'Create account'),
        provider('github', 'Continue with'),
        provider('google', 'Continue with'),
      ],
      links: [to('login')],
    }),
    'registration-address': page({
      kind: 'registration',
      nodes: [
        csrf(),
        input('default', { name: 'traits.email', type: 'email', required: true }, 'Email address'),
        provider('github', 'Sign up with'),
      ],
      messages: [says(1900003, english.texts[1900003].replace('{provider}', 'GitHub'))],
    }),
    recovery: page({
      kind: 'recovery',
      nodes: [
        csrf(),
        input('code', { name: 'email', type: 'email', required: true }, 'Email address'),
        submit('code', 'method', 'code', 'Continue'),
      ],
      links: [to('login')],
    }),
    'recovery-code': page({
      kind: 'recovery',
      nodes: [
        csrf(),
        code('Verification code'),
        hiddenMethod(),
        submit('code', 'method', 'code', 'Continue'),
        submit('code', 'email', ADDRESS, 'Resend code'),
      ],
      messages: [says(1060003, english.texts[1060003])],
      flow: { state: 'sent_email', active: 'code' },
    }),
    'recovery-link': page({
      kind: 'recovery',
      nodes: [
        csrf(),
        input('code', { name: 'code', type: 'hidden', value: 'A'.repeat(43) }),
        hiddenMethod(),
        submit('code', 'method', 'code', 'Continue'),
      ],
      messages: [says(1900010, english.texts[1900010].replace('{address}', ADDRESS))],
      flow: { state: 'sent_email', active: 'code' },
    }),
    'verification-choice': page({
      kind: 'verification',
      nodes: [
        csrf(),
        submit('code', 'confirm_by', 'sign_in', english.texts[1900008]),
        submit('code', 'confirm_by', 'recovery', english.texts[1900009]),
      ],
      messages: [says(1900006, english.texts[1900006])],
      flow: { state: 'sent_email', active: 'code' },
    }),
    'verification-done': page({
      kind: 'verification',
      nodes: [csrf(), link('https://app.example.com/welcome', 'Continue')],
      messages: [says(1080002, english.texts[1080002], 'success')],
      flow: { state: 'passed_challenge' },
    }),
    'settings-new': page({ kind: 'settings', nodes: newSettingsNodes() }),
    'settings-kept': page({
      kind: 'settings',
      nodes: keptSettingsNodes(),
      messages: [says(1050001, 'Your changes have been saved.', 'success')],
      flow: { state: 'success' },
    }),
    'settings-wrong': page({ kind: 'settings', status: 422, nodes: keptCodesNodes() }),
    german: page({
      language: 'de',
      tenantName: 'Bäckerei Müller & Söhne',
      nodes: [
        csrf(),
        input('default', { name: 'identifier', required: true }, 'E-Mail-Adresse'),
        password('current-password', 'Passwort'),
        submit('password', 'method', 'password', 'Anmelden'),
        submit('code', 'method', 'code', 'Anmeldecode per E-Mail senden'),
        provider('google', 'Anmelden mit'),
      ],
      links: loginLinks,
    }),
    ...germanFixtures(page),
    hostile: page({ tenantName: HOSTILE_NAME, nodes: loginNodes() }),
  }
}

/** The steps with the longest German labels, of the nodes and messages that the engine makes. */
function germanFixtures(page: (wanted: Omit<Wanted, 'origin'>) => FlowPage) {
  const say = ui.createSay('de')
  const german = { language: 'de' as const, tenantName: 'Acme' }
  const sent = { state: 'sent_email' as const, active: 'code' as const }
  return {
    'german-code': page({
      ...german,
      nodes: [csrf(), ...ui.codeLoginSent(say, { identifier: ADDRESS })],
      messages: [say(4010008), say(1010014)],
      flow: sent,
    }),
    'german-second-factor': page({
      ...german,
      nodes: [csrf(), ...ui.totpLogin(say), ...ui.lookupLogin(say)],
      messages: [say(1010004)],
      flow: { requested_aal: 'aal2', active: 'lookup_secret' },
    }),
    'german-recovery': page({
      ...german,
      kind: 'recovery',
      nodes: [csrf(), ...ui.recoveryCodeSent(say, { email: ADDRESS })],
      messages: [say(1060003)],
      flow: sent,
    }),
    'german-choice': page({
      ...german,
      kind: 'verification',
      nodes: [csrf(), ...ui.confirmChoice(say, { mayRecover: true })],
      messages: [say(1900006)],
      flow: sent,
    }),
    'german-settings': page({
      ...german,
      kind: 'settings',
      nodes: [
        csrf(),
        ...ui.profileSettings(say, { email: ADDRESS, displayName: 'Ada Lovelace' }),
        ...ui.passwordSettings(say),
        ...ui.socialSettings(say, { unlinked: ['google', 'microsoft'], removable: ['github'] }),
        ...ui.totpSetup(say, { qr: qr(), secret: SECRET }),
        ...ui.lookupShown(say, { codes: CODES }),
      ],
      messages: [say(1050001)],
    }),
    'german-settings-kept': page({
      ...german,
      kind: 'settings',
      nodes: [csrf(), ...ui.totpSet(say), ...ui.lookupSet(say)],
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
  return Object.entries(ENDINGS).map(([notice, rest]) => ({
    status: 200,
    language,
    tenantName: 'Acme',
    notice: notice as NoticePage['notice'],
    ...rest,
  }))
}

import type { FlowPage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Message } from '../../src/engines/gate/sign-in/model.ts'
import { TenantMark } from './branding.tsx'
import { focusOf } from './focus.ts'
import { formsOf } from './forms.ts'
import { webAddress } from './href.ts'
import { Layout } from './layout.tsx'
import { Banners, hasLink, Introductions } from './messages.tsx'
import { Methods } from './methods.tsx'
import {
  hasError,
  type InputNode,
  isButton,
  isHidden,
  isLink,
  isPassword,
  textIn,
} from './nodes.ts'
import { RevealScript } from './reveal.tsx'
import { Settings } from './settings.tsx'
import { Sentence, sentence } from './tenant.tsx'
import { topicOf } from './topic.ts'
import { type Topic, WORDS, type Words } from './words.ts'

/** A flow as a page that works without scripts; its only one shows passwords. */
export const FlowDocument = ({ page }: { page: FlowPage }) => {
  const { kind, language, branding } = page
  return (
    <Layout
      language={language}
      title={titleOf(page)}
      branding={branding}
      isWide={kind === 'settings'}
    >
      <main class="card">
        <FlowContent page={page} />
      </main>
      <OtherPages page={page} words={WORDS[language]} />
      {page.flow.ui.nodes.some(isPassword) && <RevealScript />}
    </Layout>
  )
}

/** The card of a flow. A sample takes no focus. */
export const FlowContent = ({ page, isSample }: { page: FlowPage; isSample?: boolean }) => {
  const { flow, kind, language, tenantName, branding } = page
  const words = WORDS[language]
  const topic = topicOf(page)
  const forms = formsOf(flow.ui.nodes)
  const account = accountOf(page)
  const messages = messagesOf(page)
  const intros = messages.filter((message) => message.type === 'info' && !hasLink(message))
  const focused = isSample ? undefined : focusOf(page, forms)
  const parts = { forms, words, account, focused }
  // A sample is a part of another page.
  const Heading = isSample ? 'h4' : 'h1'
  return (
    <>
      <header>
        <TenantMark name={tenantName} logos={branding?.logos} />
        <Heading>
          <Sentence text={words.headings[topic]} name={tenantName} />
        </Heading>
        <Intro page={page} words={words} />
        <Introductions messages={intros} />
        {NAMED.has(topic) && account && <p class="account">{account}</p>}
      </header>
      <Banners
        messages={messages.filter((message) => !intros.includes(message))}
        goOn={words.enterCode}
      />
      {kind === 'settings' ? (
        <Settings action={flow.ui.action} {...parts} />
      ) : (
        <Methods page={page} {...parts} />
      )}
    </>
  )
}

/** Pages that show the account's address, so that users notice a typo. */
const NAMED: ReadonlySet<Topic> = new Set(['sign_in_again', 'enter_code'])

/** Pages with a link to continue need no introduction. */
const Intro = ({ page, words }: { page: FlowPage; words: Words }) => {
  const text = words.intros[topicOf(page)]
  return text && !page.flow.ui.nodes.some(isLink) ? <p class="intro">{text}</p> : null
}

/** Starts with "Error" if the page has one, because screen readers announce the title first. */
function titleOf(page: FlowPage): string {
  const { flow, language, tenantName } = page
  const words = WORDS[language]
  const title = sentence(words.headings[topicOf(page)], tenantName)
  const isWrong =
    flow.ui.messages?.some(({ type }) => type === 'error') || flow.ui.nodes.some(hasError)
  return isWrong ? `${words.problem}: ${title}` : title
}

/** Messages about the whole flow, and about hidden fields. */
const messagesOf = ({ flow: { ui } }: FlowPage): Message[] => [
  ...(ui.messages ?? []),
  ...ui.nodes.filter(isHidden).flatMap(({ messages }) => messages),
]

/** The account of the flow, if it can no longer be changed. */
function accountOf({ flow }: FlowPage): string | undefined {
  const fixed = flow.ui.nodes.filter(
    (node): node is InputNode =>
      (isHidden(node) && ['identifier', 'traits.email'].includes(node.attributes.name)) ||
      (isButton(node) && node.attributes.name === 'email'),
  )[0]
  return (fixed && textIn(fixed)) || flow.identity?.traits.email || undefined
}

const OtherPages = ({ page, words }: { page: FlowPage; words: Words }) => {
  const { kind: here, links = [], backTo } = page
  if (links.length === 0 && backTo === undefined) return null
  return (
    <nav class="others" aria-label={words.otherPages}>
      {backTo !== undefined && <a href={webAddress(backTo)}>{words.back}</a>}
      {links.map(({ kind, url }) => (
        <a href={webAddress(url)}>{kind === here ? words.beginAgain : words.links[kind]}</a>
      ))}
    </nav>
  )
}

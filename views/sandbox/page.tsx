import type { ComponentChildren } from 'preact'
import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'
import { Document } from '../document.tsx'
import { CheckIcon, ClockIcon, InfoIcon, ProblemIcon } from '../flows/icons.tsx'
import { Sentence, sentence } from '../flows/tenant.tsx'
import { Chat } from './chat.tsx'
import { choicesOf } from './choices.ts'
import { People } from './people.tsx'
import { Terminal } from './terminal.tsx'
import { type Outcome, WORDS, type Words } from './words.ts'

/** The chat with the test bot, and information for developers. */
export const SandboxDocument = ({ page }: { page: SandboxPage }) => {
  const words = WORDS[page.language]
  return (
    <Document
      language={page.language}
      title={`${titleOf(page, words)} · ${words.sandbox}`}
      styles={{ sheet: 'sandbox.css', style: 'sandbox' }}
    >
      <header class="notice">
        <p>
          <FlaskIcon />
          <span>
            <strong>{words.sandbox}.</strong> {words.notReal}
          </span>
        </p>
      </header>
      <main>
        <Stage page={page}>
          <div class="about">
            {page.outcome ? (
              <OutcomeNotice outcome={page.outcome} words={words} />
            ) : (
              <Task tenantName={page.tenantName ?? ''} words={words} />
            )}
            {page.people.length > 0 && <People people={page.people} words={words} />}
          </div>
          {hasChat(page) && <Chat page={page} words={words} />}
          <Terminal page={page} words={words} />
        </Stage>
      </main>
    </Document>
  )
}

/** Before the first message, the chat shows the Start button. */
const hasChat = ({ chat, canPressStart }: SandboxPage): boolean => chat.length > 0 || canPressStart

/** The whole page, as a form while there is something to submit. */
const Stage = ({ page, children }: { page: SandboxPage; children: ComponentChildren }) => {
  const style = hasChat(page) ? 'stage' : 'stage alone'
  if (choicesOf(page).length === 0) return <div class={style}>{children}</div>
  return (
    <form class={style} method="post">
      {/* Enter in a field presses the first button: this one, which closes a dialog there is not. */}
      <button type="submit" formmethod="dialog" hidden />
      {children}
    </form>
  )
}

const titleOf = ({ outcome, tenantName }: SandboxPage, words: Words): string =>
  outcome ? words.outcomes[outcome].heading : sentence(words.task.heading, tenantName ?? '')

const Task = ({ tenantName, words }: { tenantName: string; words: Words }) => (
  <div class="opening">
    <h1>
      <Sentence text={words.task.heading} name={tenantName} />
    </h1>
    <p>{words.task.text}</p>
  </div>
)

const OutcomeNotice = ({ outcome, words }: { outcome: Outcome; words: Words }) => (
  <div class="opening">
    {SIGNS[outcome]}
    <h1>{words.outcomes[outcome].heading}</h1>
    <p>{words.outcomes[outcome].text}</p>
    {outcome !== 'unknown' && (
      <p>
        {words.status}: <code>{STATUSES[outcome]}</code>
      </p>
    )}
  </div>
)

/** The response to the app's status request. */
const STATUSES = {
  approved: '200 completed',
  denied: '404 login_denied',
  expired: '404 nonce_expired',
}

const SIGNS = {
  approved: <span class="sign good">{<CheckIcon />}</span>,
  denied: <span class="sign bad">{<ProblemIcon />}</span>,
  expired: <span class="sign late">{<ClockIcon />}</span>,
  unknown: <span class="sign">{<InfoIcon />}</span>,
}

const FlaskIcon = () => (
  <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d="M7 2.5h6M8 2.5v5L3.4 15.4A1.4 1.4 0 0 0 4.6 17.5h10.8a1.4 1.4 0 0 0 1.2-2.1L12 7.5v-5M5.6 12h8.8" />
  </svg>
)

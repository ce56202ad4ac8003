import type { ComponentChildren } from 'preact'
import { url } from '../url.ts'
import { ConsoleDocument } from './document.tsx'
import type { Theme } from './model.ts'
import { OutdatedSlot } from './outdated.tsx'

/** Layout of pages outside the console: one centered card, for set-up, links and invitations. */
export const PlainFrame = (frame: {
  base: string
  title: ComponentChildren
  /** Title of the window, as plain text. */
  windowTitle: string
  intro?: ComponentChildren
  theme?: Theme
  /** Current step, for a flow of several pages. */
  steps?: { at: number; names: readonly string[] }
  isWide?: boolean
  /** Parts of the page update while it is open. */
  isLive?: boolean
  children: ComponentChildren
}) => (
  <ConsoleDocument
    base={frame.base}
    title={`${frame.windowTitle} · Gatehouse`}
    theme={frame.theme ?? 'system'}
    look="plain"
    isPlain={!frame.isLive}
  >
    <main class={frame.isWide ? 'card wide' : 'card'}>
      <header>
        <img src={url(frame.base, '/assets/icon.svg')} alt="Gatehouse" width="32" height="32" />
        {frame.steps && <Steps {...frame.steps} />}
        <h1>{frame.title}</h1>
        {frame.intro && <p class="intro">{frame.intro}</p>}
      </header>
      {frame.isLive && <OutdatedSlot />}
      {frame.children}
    </main>
  </ConsoleDocument>
)

const Steps = ({ at, names }: { at: number; names: readonly string[] }) => (
  <ol class="steps" aria-label="Steps">
    {names.map((name, index) => (
      <li class={index < at ? 'done' : undefined} aria-current={index === at ? 'step' : undefined}>
        {name}
      </li>
    ))}
  </ol>
)

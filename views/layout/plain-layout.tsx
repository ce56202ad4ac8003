import type { ComponentChildren } from 'preact'
import { assetHref } from '../assets.ts'
import { ConsoleDocument } from './document.tsx'
import { OutdatedSlot } from './live.tsx'
import type { Theme } from './model.ts'

/** Layout of pages outside the console: one centered card, for set-up, links and invitations. */
export const PlainLayout = (layout: {
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
    base={layout.base}
    title={`${layout.windowTitle} · Gatehouse`}
    theme={layout.theme ?? 'system'}
    style="plain"
    isPlain={!layout.isLive}
  >
    <main class={layout.isWide ? 'card wide' : 'card'}>
      <header>
        <img src={assetHref(layout.base, 'icon.svg')} alt="Gatehouse" width="32" height="32" />
        {layout.steps && <Steps {...layout.steps} />}
        <h1>{layout.title}</h1>
        {layout.intro && <p class="intro">{layout.intro}</p>}
      </header>
      {layout.isLive && <OutdatedSlot />}
      {layout.children}
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

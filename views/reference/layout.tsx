import type { ComponentChildren } from 'preact'
import type { ApiDocument } from '../../src/http/api-document.ts'
import { ConsoleDocument } from '../layout/document.tsx'
import { Icon } from '../ui/icons.tsx'
import type { Chapter, Entry } from './entries.ts'
import { Method } from './prose.tsx'
import { LANGUAGES } from './snippets.ts'

/** A page of the reference: all operations at its side, and a bar with what applies to all examples. */
export const ReferenceLayout = (layout: {
  base: string
  title: string
  document: ApiDocument
  chapters: readonly Chapter[]
  /** Name of the chapter that is open; none on the first page. */
  current?: string
  search?: string
  children: ComponentChildren
}) => (
  <ConsoleDocument
    base={layout.base}
    title={`${layout.title} · Gatehouse`}
    theme="system"
    style="console reference"
    scripts={['reference.js']}
    isPlain
  >
    <a class="skip" href="#content">
      Skip to content
    </a>
    <nav class="contents" id="operations" aria-label="Operations" popover="auto">
      <p class="brand">
        <a href={`${layout.base}/reference`}>API reference</a>{' '}
        <small>{layout.document.info.version}</small>
      </p>
      <search>
        <form method="get" action={`${layout.base}/reference`}>
          <label class="searchfield">
            <span class="unseen">Search operations</span>
            <Icon name="search" />
            <input type="search" name="q" value={layout.search} placeholder="Search operations" />
            <kbd class="scripted">/</kbd>
          </label>
        </form>
      </search>
      <div class="results" data-results>
        <p role="status" class="hint" />
        <ul />
      </div>
      {layout.chapters.map((chapter) => (
        <Contents chapter={chapter} current={layout.current} />
      ))}
      <p class="documents">
        <a href={`${layout.base}/openapi.json`}>openapi.json</a>
        <a href={`${layout.base}/console`}>Console</a>
      </p>
    </nav>
    <div class="stage">
      <Bar />
      <main id="content" tabindex={-1}>
        {layout.children}
      </main>
    </div>
  </ConsoleDocument>
)

/** Without a current chapter all are open, and their entries have the anchors of their operations. */
const Contents = ({ chapter, current }: { chapter: Chapter; current: string | undefined }) => (
  <details open={current === undefined || current === chapter.name}>
    <summary>{chapter.title}</summary>
    <ul>
      <li>
        <a href={chapter.href} aria-current={current === chapter.name ? 'page' : undefined}>
          Overview
        </a>
      </li>
    </ul>
    {chapter.groups.map(({ title, entries }) => (
      <div>
        {chapter.groups.length > 1 && <p class="group">{title}</p>}
        <ul>
          {entries.map((entry) => (
            <ContentsEntry {...entry} id={current === undefined ? entry.anchor : undefined} />
          ))}
        </ul>
      </div>
    ))}
  </details>
)

const ContentsEntry = ({ id, href, method, title }: Entry & { id: string | undefined }) => (
  <li id={id}>
    <a href={href}>
      <Method name={method} />
      <span>{title}</span>
    </a>
  </li>
)

/** Language of the examples and, with scripts, the key to try requests with. */
const Bar = () => (
  <header class="referencebar">
    <button
      type="button"
      class="button small contentsbutton"
      popovertarget="operations"
      aria-label="Operations"
    >
      <Icon name="menu" />
    </button>
    <fieldset class="languages">
      <legend class="unseen">Language of examples</legend>
      {LANGUAGES.map(({ name, title }, at) => (
        <label>
          <input type="radio" name="language" value={name} checked={at === 0} />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
    <label class="keyfield scripted">
      <span>API key</span>
      <input
        type="password"
        data-key
        autocomplete="off"
        spellcheck={false}
        placeholder="To try requests"
        title="Stays in this page and is cleared when you leave it"
      />
    </label>
  </header>
)

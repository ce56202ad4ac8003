import { Icon } from '../ui/icons.tsx'
import { Text } from '../ui/text.tsx'
import type { Crumb, LayoutProps, Theme } from './model.ts'
import { LAYOUT_PATHS } from './navigation.ts'
import { EnvironmentSwitch } from './sidebar.tsx'

/** Top bar: breadcrumb, environment, search, theme and account menu. */
export const Topbar = (layout: LayoutProps) => (
  <header class="topbar">
    <button type="button" class="iconbutton menubutton" popovertarget="sidebar" aria-label="Menu">
      <Icon name="menu" />
    </button>
    <Breadcrumb crumbs={layout.crumbs} />
    <EnvironmentSwitch {...layout} />
    <a class="search" href={layout.href(LAYOUT_PATHS.find)} data-palette>
      <Icon name="search" />
      <span>Search</span>
      <kbd class="scripted">⌘K</kbd>
    </a>
    <ThemeSwitch {...layout} />
    <AccountMenu {...layout} />
  </header>
)

const Breadcrumb = ({ crumbs }: { crumbs: readonly Crumb[] }) => (
  <nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      {crumbs.map(({ label, href }) => (
        <li>
          {href === undefined ? (
            <span aria-current="page">
              <Text text={label} limit={60} />
            </span>
          ) : (
            <a href={href}>
              <Text text={label} limit={60} />
            </a>
          )}
        </li>
      ))}
    </ol>
  </nav>
)

const THEMES: readonly { theme: Theme; icon: 'system' | 'sun' | 'moon' }[] = [
  { theme: 'light', icon: 'sun' },
  { theme: 'dark', icon: 'moon' },
  { theme: 'system', icon: 'system' },
]

/** Switches to the next theme. All three buttons are rendered; the style sheet shows one of them. */
const ThemeSwitch = ({ href, here }: Pick<LayoutProps, 'href' | 'here'>) => (
  <form class="theme" method="post" action={href(LAYOUT_PATHS.theme)}>
    <input type="hidden" name="return_to" value={here} />
    {THEMES.map(({ theme, icon }) => (
      <button
        type="submit"
        class="iconbutton"
        name="theme"
        value={theme}
        aria-label={`Theme: ${theme}`}
        title={`Theme: ${theme}`}
      >
        <Icon name={icon} />
      </button>
    ))}
  </form>
)

const AccountMenu = ({ base, href, operator }: Pick<LayoutProps, 'base' | 'href' | 'operator'>) => (
  <details class="menu account">
    <summary>
      <span class="unseen">Account menu of </span>
      <span class="avatar" aria-hidden="true">
        {initialsOf(operator.name)}
      </span>
      <span class="accountname">
        <Text text={operator.name} limit={32} />
      </span>
    </summary>
    <div class="popup">
      <p class="who">
        <strong>
          <Text text={operator.name} limit={64} />
        </strong>
        <Text text={operator.email} limit={64} />
      </p>
      <a class="item" href={href(LAYOUT_PATHS.account)}>
        <Icon name="account" />
        Account
      </a>
      <a class="item" href={`${base}/reference`}>
        <Icon name="configuration" />
        API reference
      </a>
      <form method="post" action={href(LAYOUT_PATHS.signOut)}>
        <button type="submit" class="item">
          <Icon name="signOut" />
          Sign out
        </button>
      </form>
    </div>
  </details>
)

/** Initials of the first and the last word. */
function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined]
  return (
    letters
      .map((word) => [...(word ?? '')][0] ?? '')
      .join('')
      .toUpperCase() || '·'
  )
}

// A subset of TeX as a line of Unicode: Greek letters, symbols, superscripts and subscripts,
// fractions, roots. Everything else remains as written.

const SIGNS = Object.fromEntries(
  (
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ " +
    "upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω " +
    "le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ equiv ≡ cong ≅ propto ∝ times × cdot · div ÷ pm ± mp ∓ ast ∗ circ ∘ bullet • " +
    "infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ forall ∀ exists ∃ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ " +
    "emptyset ∅ varnothing ∅ setminus ∖ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ mapsto ↦ iff ⇔ implies ⇒ " +
    "land ∧ wedge ∧ lor ∨ vee ∨ neg ¬ lnot ¬ oplus ⊕ otimes ⊗ perp ⊥ parallel ∥ mid | angle ∠ degree ° ldots … dots … cdots ⋯ prime ′ hbar ℏ ell ℓ Re ℜ Im ℑ " +
    "langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ vert | Vert ‖ mathring ˚ aleph ℵ star ⋆ dagger † S §"
  )
    .split(" ")
    .reduce(
      (pairs, word, index, all) =>
        index % 2 ? pairs : [...pairs, [word, all[index + 1]]],
      [],
    ),
);
const NAMES = new Set(
  "log ln lg exp sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh min max inf sup lim det dim ker deg gcd arg Pr".split(
    " ",
  ),
);
const PLAIN = new Set(
  "text textrm textit textbf mathrm mathbf mathit mathsf mathtt mathcal operatorname mbox boldsymbol".split(
    " ",
  ),
);
const NOTHING = new Set(
  "left right big Big bigg Bigg displaystyle textstyle limits nolimits !".split(
    " ",
  ),
);
const SPACES = new Set([",", ";", ":", " ", "quad", "qquad"]);
const BOARD = { R: "ℝ", N: "ℕ", Z: "ℤ", Q: "ℚ", C: "ℂ", P: "ℙ", E: "𝔼" };
const OVER = {
  hat: "\u0302",
  widehat: "\u0302",
  bar: "\u0304",
  overline: "\u0304",
  tilde: "\u0303",
  vec: "\u20d7",
  dot: "\u0307",
};
const pairs = (from, to) =>
  Object.fromEntries([...from].map((sign, index) => [sign, [...to][index]]));
const HIGH = pairs(
  "0123456789+−=()abcdefghijklmnoprstuvwxyz",
  "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ",
);
const LOW = pairs(
  "0123456789+−=()aehijklmnoprstuvx",
  "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ",
);

class UnknownTex extends Error {}

const shifted = (text, table, sign) =>
  [...text].every((one) => table[one])
    ? [...text].map((one) => table[one]).join("")
    : `${sign}${[...text].length > 1 ? `(${text})` : text}`;
const grouped = (text) =>
  [...text].length > 1 && /[^\p{L}\p{N}.]/u.test(text) ? `(${text})` : text;

class TexReader {
  constructor(source) {
    Object.assign(this, { source, at: 0 });
  }

  get next() {
    return this.source[this.at];
  }
  get isOver() {
    return this.at >= this.source.length;
  }

  /** Converts up to `end` or the end of the source. */
  row(end = null) {
    let text = "";
    while (!this.isOver && this.next !== end) text += this.atom();
    if (end !== null && this.isOver) throw new UnknownTex();
    if (end !== null) this.at += 1;
    return text;
  }

  /** Returns the argument of a command or symbol: a group or a single atom. */
  argument() {
    while (this.next === " ") this.at += 1;
    if (this.isOver) throw new UnknownTex();
    return this.atom();
  }

  atom() {
    const sign = this.source[this.at++];
    if (sign === "{") return this.row("}");
    if (sign === "\\") return this.command();
    if (sign === "^") return shifted(this.argument(), HIGH, "^");
    if (sign === "_") return shifted(this.argument(), LOW, "_");
    if (sign === "}" || sign === "&" || sign === "$") throw new UnknownTex();
    return { "-": "−", "~": " ", "'": "′", "\n": " " }[sign] ?? sign;
  }

  command() {
    const [name] = /^[a-zA-Z]+|^[^]/.exec(this.source.slice(this.at)) ?? [];
    if (name === undefined) throw new UnknownTex();
    this.at += name.length;
    if (SIGNS[name]) return SIGNS[name];
    if (/^[a-zA-Z]/.test(name)) while (this.next === " ") this.at += 1;
    if (NAMES.has(name))
      return /[\w\\{(]/.test(this.next ?? "") ? `${name} ` : name;
    if (NOTHING.has(name)) return this.next === "." ? ((this.at += 1), "") : "";
    if (SPACES.has(name)) return " ";
    if ("{}%$#_&|".includes(name)) return name === "|" ? "‖" : name;
    if (PLAIN.has(name)) return this.argument();
    if (name === "mathbb") return this.#board();
    if (OVER[name]) return this.#over(OVER[name]);
    if (name === "frac" || name === "tfrac" || name === "dfrac")
      return `${grouped(this.argument())}/${grouped(this.argument())}`;
    if (name === "sqrt") return this.#root();
    throw new UnknownTex();
  }

  #board() {
    const letter = this.argument();
    return BOARD[letter] ?? letter;
  }

  #over(mark) {
    const letter = this.argument();
    if ([...letter].length !== 1) throw new UnknownTex();
    return letter + mark;
  }

  #root() {
    let degree = "";
    if (this.next === "[") {
      this.at += 1;
      degree = shifted(this.row("]"), HIGH, "");
    }
    return `${degree}√${grouped(this.argument())}`;
  }
}

/** Returns a formula as a line of text, null if it contains unsupported TeX. */
export function line(source) {
  try {
    return (
      new TexReader(source.trim()).row().replace(/\s+/g, " ").trim() || null
    );
  } catch (error) {
    if (error instanceof UnknownTex) return null;
    throw error;
  }
}

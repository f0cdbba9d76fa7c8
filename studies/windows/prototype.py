"""Does a radius that is calibrated on the returns of windows beat a fixed one?

    python prototype.py FIRST LAST >> rows.csv

It needs PyTorch and about 20 CPU seconds a plant; no rows are kept yet.

One plant a seed: random, weakly nonlinear, with a random log. The model is five random-feature
regressions with random priors; the set is mu + r * sigma_e * eta with eta in a box, one eta a
step and a trajectory. Rows hold the truth and, for every radius of a grid, the bound of a
controller that did not log, and what each rule of calibration says the radius is.
"""
import sys, math, torch
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
GRID=[0.0,0.25,0.5,0.75,1.0,1.5,2.0,3.0,4.0,6.0,8.0]
MEMBERS=5; WINDOW=25; HORIZON=50; SIGN_STEPS=8; NOISES=3

def cell(seed):
    g=torch.Generator().manual_seed(seed)
    rnd=lambda *s: torch.randn(*s,generator=g)
    uni=lambda a,b: a+(b-a)*torch.rand((),generator=g).item()
    n=int(torch.randint(1,5,(1,),generator=g))
    A=torch.eye(n)*uni(0.85,1.0)+0.08*rnd(n,n)
    ev=torch.linalg.eigvals(A).abs().max().item()
    A=A*min(1.0,1.02/ev)
    B=0.15*rnd(n,1)
    V,U=rnd(n,n+1),rnd(n,n+1)*0.05*uni(0,1.5)
    noise=[0.0,0.01,0.03,0.1][seed%4]*0.5
    # two mechanisms that a smooth model follows badly
    dead=uni(0,0.3) if seed%3==0 else 0.0
    fric=uni(0,0.05) if seed%3==1 else 0.0
    def f(s,a):
        a=a.clamp(-2,2)
        a=torch.where(a.abs()<dead,torch.zeros_like(a),a-dead*a.sign()) if dead else a
        z=torch.cat([s,a],-1)
        out=s@A.T+a@B.T+torch.tanh(z@V.T)@ (U[:,:n].T)
        if fric: out=out-fric*torch.tanh(s/0.05)
        return out
    Q=torch.rand(n,generator=g)+0.2
    shape=seed%2
    def reward(s,a):
        c=(Q*(s**2 if shape==0 else s.abs())).sum(-1)+0.01*(a**2).sum(-1)
        return -c
    gain=-torch.linalg.pinv(B)@A*uni(0.2,0.6)
    gain=gain.clamp(-2,2)
    start=lambda k: 2*torch.rand(k,n,generator=g)-1
    def run(K,k,T,explore=0.0):
        s=start(k); S=[s];AA=[]; R=torch.zeros(k)
        for t in range(T):
            a=(s@K.T)
            if explore: a=a+explore*rnd(k,1)
            a=a.clamp(-2,2); s2=f(s,a)+noise*rnd(k,n)
            R=R+reward(s2,a); S.append(s2);AA.append(a); s=s2
        return torch.stack(S,1),torch.stack(AA,1),R
    episodes=int(uni(30,120)); T=int(uni(25,60))
    kinds=[gain*(1+0.3*rnd(1,n)) for _ in range(2)]
    S1,A1,_=run(kinds[0],episodes//2,T,uni(0.05,0.6)); S2,A2,_=run(kinds[1],episodes-episodes//2,T,uni(0.05,0.6))
    S=torch.cat([S1,S2]);Ac=torch.cat([A1,A2]); perm=torch.randperm(episodes,generator=g)
    S,Ac=S[perm],Ac[perm]
    if S.abs().max()>8: return None
    held=max(6,episodes//4); tr=slice(held,None)
    X=torch.cat([S[tr,:-1],Ac[tr]],-1).reshape(-1,n+1); Y=(S[tr,1:]-S[tr,:-1]).reshape(-1,n)
    mX,sX=X.mean(0),X.std(0)+1e-6; sY=Y.std(0)+1e-9
    F=24; models=[]
    for m in range(MEMBERS):
        W=rnd(n+1,F); b=rnd(F); P=rnd(F+n+2,n)*0.3
        def phi(x,W=W,b=b):
            z=(x-mX)/sX
            return torch.cat([torch.tanh(z@W*0.5+b),z,torch.ones_like(z[...,:1])],-1)
        Ph=phi(X); target=Y/sY-Ph@P*0.3
        lam=1e-3*len(X)
        w=torch.linalg.solve(Ph.T@Ph+lam*torch.eye(Ph.shape[1]),Ph.T@(target+ 0.1*rnd(*target.shape)))
        models.append((phi,w+0.3*P))
    def predict(s,a):
        x=torch.cat([s,a],-1)
        out=torch.stack([phi(x)@w*sY for phi,w in models])
        return s+out.mean(0),out.std(0)+1e-9
    # noise by training residuals
    mu,sg=predict(S[tr,:-1],Ac[tr]); res=(S[tr,1:]-mu).reshape(-1,n); nstd=res.std(0)
    def least(s0,r,sign,value,T,actions=None,K=None):
        """Least (sign=-1: greatest) expected value of windows over eta; episodes in rows."""
        k=len(s0)
        eps=rnd(NOISES,k,T,n)*nstd
        eta=torch.zeros(k,T,n,requires_grad=True)
        best=None
        for it in range(SIGN_STEPS+1):
            s=s0.expand(NOISES,k,n); tot=0
            for t in range(T):
                a=actions[:,t].expand(NOISES,k,1) if actions is not None else (s@K.T).clamp(-2,2)
                m,sd=predict(s,a); s=m+r*sd*eta[:,t]+eps[:,:,t]
                s=s.clamp(-20,20)
                tot=tot+value(s,a)
            v=tot.mean(0)
            cur=v.detach()*sign
            best=cur if best is None else torch.minimum(best,cur)
            if r==0 or it==SIGN_STEPS: break
            gr,=torch.autograd.grad((v*sign).sum(),eta)
            step=1.0 if it==0 else 2.0/(it+1)
            with torch.no_grad(): eta=(eta-step*gr.sign()).clamp(-1,1)
            eta.requires_grad_(True)
        return best*sign
    # calibration on withheld windows
    values=[reward]+[ (lambda s,a,j=j: (s[...,j]**2)/WINDOW) for j in range(n)]
    starts=list(range(0,T-WINDOW+1,WINDOW))
    need=GRID[-1]*2
    for r in GRID:
        ok=True
        for v in values:
            dl,dg=[],[]
            for st in starts:
                s0=S[:held,st]; ac=Ac[:held,st:st+WINDOW]
                logged=v(S[:held,st+1:st+1+WINDOW],ac).sum(-1)
                dl.append(logged-least(s0,r,1.0,v,WINDOW,actions=ac)); dg.append(least(s0,r,-1.0,v,WINDOW,actions=ac)-logged)
            for d in (dl,dg):
                d=torch.stack(d).mean(0)
                lower=d.mean()-1.7*d.std()/math.sqrt(held)
                scale=1e-9+1e-6*abs(logged.mean().item())
                ok&= lower.item()>=-scale
            if not ok: break
        if ok: need=r; break
    mu,sg=predict(S[:held,:-1],Ac[:held]); z=((S[:held,1:]-mu).abs()-2.0*nstd).clamp(min=0)/sg
    rows=z.amax(-1).flatten().quantile(0.9).item()
    # the controller and the truth
    K=kinds[0]*(1+0.25*rnd(1,n)); 
    St,_,R=run(K,4000,HORIZON); _,_,Ri=run(torch.zeros(1,n),1000,HORIZON)
    if St.abs().max()>10: return None
    truth,spread=R.mean().item(),(R.mean()-Ri.mean()).item()
    if spread<0.2*abs(Ri.mean().item()): return None
    s0=start(64)
    bounds=[least(s0,r,1.0,reward,HORIZON,K=K).mean().item() for r in GRID]
    # The truth from the same starts is less noisy.
    reps=40; s=s0.repeat(reps,1); tot=torch.zeros(64*reps)
    for t in range(HORIZON):
        a=(s@K.T).clamp(-2,2); s=f(s,a)+noise*rnd(len(s),n); tot=tot+reward(s,a)
    paired=tot.mean().item()
    return [seed,n,noise,dead,fric,truth,spread,paired,need,rows]+bounds
for seed in range(int(sys.argv[1]),int(sys.argv[2])):
    row=cell(seed)
    if row: print(','.join(f'{x:.6g}' for x in row),flush=True)
